// Each verb adds itself as a subcommand; running it leaves the exit status in `code`.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace forebay {

void add_run(CLI::App& app, int& code);
// `words` of the command line without the "--" that separates options of `run` from its command.
void drop_separator(CLI::App& app, std::vector<std::string>& words);
void add_status(CLI::App& app, int& code);
void add_drain(CLI::App& app, int& code);
void add_recover(CLI::App& app, int& code);
void add_clean(CLI::App& app, int& code);
void add_profile(CLI::App& app, int& code);
void add_doctor(CLI::App& app, int& code);
void add_settings(CLI::App& app, int& code);
void add_report(CLI::App& app, int& code);
void add_bench(CLI::App& app, int& code);

}  // namespace forebay
