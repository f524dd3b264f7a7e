#!/usr/bin/env python3
import pathlib
import tempfile
import unittest

import check_layers


class CheckLayersTest(unittest.TestCase):
    def faults(self, **files):
        """Faults of a tree given as base__a_hpp="text" for src/base/a.hpp."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                folder, _, last = name.rpartition("__")
                stem, _, suffix = last.rpartition("_")
                path = pathlib.Path(root, "src", folder.replace("__", "/"), f"{stem}.{suffix}")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_layers.check_tree(root)

    def assert_one(self, faults, words):
        self.assertEqual(len(faults), 1, faults)
        self.assertIn(words, faults[0])

    def test_includes_that_point_down_pass(self):
        self.assertEqual([], self.faults(
            base__error_hpp="#pragma once\n#include <expected>\n",
            extent__extent_set_cpp='#include "extent/extent_set.hpp"\n#include "base/error.hpp"\n',
            engine__engine_cpp='#include "tier/tier.hpp"\n#include "policy/placement.hpp"\n',
            door__native__api_cpp='#include "engine/engine.hpp"\n#include "door/native/handle.hpp"\n',
            door__hdf5__vol_cpp="#include <hdf5.h>\n",
            tools__forebay__main_cpp='#include "door/native/api.hpp"\n#include "tools/forebay/verb.hpp"\n',
        ))

    def test_up_is_refused_with_file_and_line(self):
        faults = self.faults(tier__tier_cpp='#include <vector>\n\n#include "engine/engine.hpp"\n')
        self.assert_one(faults, "src/tier/tier.cpp:3: engine/engine.hpp")

    def test_pure_layers_see_only_base(self):
        self.assert_one(self.faults(policy__a_cpp='#include "extent/extent.hpp"\n'), "policy may include only base")
        self.assert_one(self.faults(extent__a_cpp='#include "os/file.hpp"\n'), "extent may include only base")

    def test_layer_includes_no_door_and_no_tool(self):
        self.assert_one(self.faults(engine__a_cpp='#include "door/native/a.hpp"\n'), "below every door")
        self.assert_one(self.faults(os__a_cpp='#include "tools/slowfs/a.hpp"\n'), "below every door")

    def test_doors_do_not_know_each_other(self):
        self.assert_one(self.faults(door__posix__a_cpp='#include "door/mpiio/a.hpp"\n'), "each other")
        self.assert_one(self.faults(door__posix__a_cpp='#include "tools/forebay/a.hpp"\n'), "below tools")
        self.assert_one(self.faults(tools__slowfs__a_cpp='#include "tools/forebay/a.hpp"\n'), "each other")

    def test_hdf5_and_mpi_stay_in_doors(self):
        for header in ("hdf5.h", "H5VLconnector.h", "mpi.h", "mpich/mpi.h"):
            self.assert_one(self.faults(engine__a_cpp=f"#include <{header}>\n"), "stay in doors")

    def test_unrooted_include_is_refused(self):
        self.assert_one(self.faults(base__a_cpp='#include "error.hpp"\n'), "rooted at src/")

    def test_seeds_are_shared_with_tests_only(self):
        self.assertEqual([], self.faults(tier__a_test_cpp='#include "support/seed.hpp"\n'))
        self.assert_one(self.faults(tier__a_cpp='#include "support/seed.hpp"\n'), "support is no layer")
        self.assert_one(self.faults(tier__a_test_cpp='#include "support/node.hpp"\n'), "support is no layer")

    def test_unknown_layer_is_refused(self):
        self.assert_one(self.faults(util__a_cpp=""), "util is no layer")

    def test_header_is_guarded_and_comes_first_in_its_own_source(self):
        guarded = "// what it is\n#pragma once\n"
        self.assertEqual([], self.faults(
            base__a_hpp=guarded, base__a_cpp='// why\n#include "base/a.hpp"\n#include <vector>\n', base__b_hpp=guarded))
        self.assert_one(self.faults(base__a_hpp="// #pragma once\n"), "#pragma once is missing")
        for source in ('#include <vector>\n#include "base/a.hpp"\n', "int x;\n"):
            self.assert_one(self.faults(base__a_hpp=guarded, base__a_cpp=source), "first include must be base/a.hpp")

    def test_getenv_has_one_site_in_config(self):
        self.assertEqual([], self.faults(
            config__environment_cpp='getenv("X")', base__a_cpp='// getenv("no")\n', base__a_test_cpp='getenv("X")'))
        self.assert_one(self.faults(base__a_cpp='std::getenv("X")'), "belongs in src/config")
        self.assert_one(self.faults(config__a_cpp='getenv("X")', config__b_cpp='secure_getenv("Y")'), "one is allowed")


if __name__ == "__main__":
    unittest.main()
