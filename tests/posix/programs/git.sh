export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b HOME=$PWD
export GIT_AUTHOR_DATE='2001-01-01T00:00:00Z' GIT_COMMITTER_DATE='2001-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1
git -c init.defaultBranch=main init -q repo
cd repo
git config gc.auto 0
i=0; while [ $i -lt 30 ]; do echo "file $i" > f$i; i=$((i + 1)); done
seq 20000 > big
git add . && git commit -qm first
seq 20001 > big; echo change >> f3; git commit -qam second
git status --porcelain > ../status
git checkout -q -b side HEAD~1; echo side > s; git add s; git commit -qm side
git merge -q -m merge main
git gc -q --prune=now
git fsck --full --strict > ../fsck 2>&1
git log --format=%H > ../log
git clone -q . ../clone
git -C ../clone rev-parse HEAD > ../head
cd .. && rm -rf repo/.git clone/.git
