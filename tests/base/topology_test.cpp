// Topology and quota: hybrids, hardware threads, nodes and control groups made up as directories, whole and broken.
#include "base/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/cpu_quota.h"
#include "support/system_tree.h"

namespace plait {
namespace {

std::vector<int> first(int count) {
  std::vector<int> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// "0 1 2s@1": processors, s for slow ones, the node where it is not 0.
std::string text_of(const Topology& topology) {
  std::string text;
  for (const CpuCore& core : topology.cores) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", core.processor, core.fast ? "" : "s");
    if (core.node != 0) text += fmt::format("@{}", core.node);
  }
  return text;
}

TEST(Topology, TakesOneHardwareThreadOfEachCore) {
  SystemTree tree;
  for (int i = 0; i < 4; ++i) tree.core({i, i + 4});
  EXPECT_EQ(text_of(read_topology(tree.root(), first(8))), "0 1 2 3");
  EXPECT_EQ(text_of(read_topology(tree.root(), std::vector{1, 5, 6, 7})), "1 6 7");
}

TEST(Topology, TellsCoresByTheirNumberWhereSiblingsAreNotListed) {
  SystemTree tree;
  for (int i = 0; i < 8; ++i) {
    tree.processor(i, "topology/physical_package_id", i < 4 ? "0" : "1");
    tree.processor(i, "topology/core_id", std::to_string(i % 4 / 2));
  }
  EXPECT_EQ(text_of(read_topology(tree.root(), first(8))), "0 2 4 6");
}

TEST(Topology, KnowsTheKindsOfAnIntelHybrid) {
  SystemTree tree;
  tree.core({0, 1}).core({2, 3});
  for (int i = 4; i < 8; ++i) tree.core({i});
  for (int i = 0; i < 8; ++i) tree.processor(i, "cpufreq/cpuinfo_max_freq", "4000000");
  tree.file("sys/devices/cpu_core/cpus", "0-3").file("sys/devices/cpu_atom/cpus", "4-7");
  EXPECT_EQ(text_of(read_topology(tree.root(), first(8))), "0 2 4s 5s 6s 7s");
  EXPECT_EQ(text_of(read_topology(tree.root(), std::vector{5, 6})), "5 6") << "only slow ones: they are all there is";
}

TEST(Topology, TellsKindsByCapacityOrElseByFrequency) {
  const std::vector<std::pair<const char*, std::vector<int>>> machines = {
      {"cpu_capacity", {1024, 1024, 900, 350, 350, 350}},
      {"cpufreq/cpuinfo_max_freq", {5100000, 5100000, 4900000, 3300000, 3300000, 3300000}}};
  for (const auto& [name, speeds] : machines) {
    SystemTree tree;
    for (int i = 0; i < 6; ++i) tree.core({i}).processor(i, name, std::to_string(speeds[static_cast<std::size_t>(i)]));
    EXPECT_EQ(text_of(read_topology(tree.root(), first(6))), "0 1 2 3s 4s 5s") << name;
  }
}

TEST(Topology, LooksAtFrequenciesWhereAllCapacitiesAreEqual) {
  SystemTree tree;
  for (int i = 0; i < 4; ++i) {
    tree.core({i}).processor(i, "cpu_capacity", "1024");
    tree.processor(i, "cpufreq/cpuinfo_max_freq", i < 2 ? "5000000" : "3000000");
  }
  EXPECT_EQ(text_of(read_topology(tree.root(), first(4))), "0 1 2s 3s");
}

TEST(Topology, PutsCoresOfOneNodeTogether) {
  SystemTree tree;
  for (int i = 0; i < 8; ++i) tree.core({i});
  tree.node(0, "0,2,4,6").node(1, "1,3,5,7").node(2, "");
  tree.file("sys/devices/system/node/possible", "0-2");
  EXPECT_EQ(text_of(read_topology(tree.root(), first(8))), "0 2 4 6 1@1 3@1 5@1 7@1");
}

TEST(Topology, CountsProcessorsWhereNothingElseCanBeRead) {
  SystemTree tree;
  EXPECT_EQ(text_of(read_topology(tree.root(), first(3))), "0 1 2");
  EXPECT_EQ(text_of(read_topology("/does/not/exist", std::vector{4, 9})), "4 9");
  EXPECT_EQ(read_topology(tree.root(), {}).cores.size(), 1u);
}

TEST(Topology, IgnoresWhatMakesNoSense) {
  for (const char* broken : {"", "x", "-", "3-1", "0-99999999999", "0-70000", "1,,2", "0-", "0x1", "1 2"}) {
    SystemTree tree;
    for (int i = 0; i < 4; ++i) {
      for (const char* name : {"topology/thread_siblings_list", "topology/core_cpus_list", "topology/core_id",
                               "topology/physical_package_id", "cpu_capacity", "cpufreq/cpuinfo_max_freq"})
        tree.processor(i, name, broken);
    }
    tree.node(0, broken).file("sys/devices/system/node/nodeX/cpulist", "0-3");
    tree.file("sys/devices/cpu_core/cpus", broken).file("sys/devices/cpu_atom/cpus", broken);
    EXPECT_EQ(text_of(read_topology(tree.root(), first(4))), "0 1 2 3") << broken;
  }
}

TEST(Topology, OfThisMachineHasACoreForSomeOfTheAllowedProcessors) {
  const std::vector<int> allowed = allowed_processors();
  ASSERT_FALSE(allowed.empty());
  const Topology topology = read_topology("/", allowed);
  EXPECT_LE(topology.cores.size(), allowed.size());
  for (const CpuCore& core : topology.cores) EXPECT_EQ(std::count(allowed.begin(), allowed.end(), core.processor), 1);
}

TEST(Processors, AreReadAndWrittenAsTheSystemDoes) {
  EXPECT_EQ(parse_processors("0-2,8"), (std::vector{0, 1, 2, 8}));
  EXPECT_EQ(parse_processors("5,1,1-2"), (std::vector{1, 2, 5}));
  EXPECT_EQ(processors_text(std::vector{0, 1, 2, 8}), "0-2,8");
  EXPECT_EQ(processors_text({}), "");
}

TEST(Quota, IsTheLeastOfAllGroupsAbove) {
  SystemTree tree;
  tree.file("proc/self/cgroup", "0::/a/b").file("sys/fs/cgroup/a/b/cpu.max", "max 100000");
  EXPECT_EQ(cpu_quota(tree.root()), 0);
  tree.file("sys/fs/cgroup/a/cpu.max", "150000 100000");
  EXPECT_EQ(cpu_quota(tree.root()), 1.5);
  tree.file("sys/fs/cgroup/a/b/cpu.max", "200000 100000");
  EXPECT_EQ(cpu_quota(tree.root()), 1.5);
}

TEST(Quota, OfAContainerThatSeesOnlyItsOwnTopIsFoundThere) {
  SystemTree tree;
  tree.file("proc/self/cgroup", "0::/host/path/that/is/not/here").file("sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(cpu_quota(tree.root()), 0.5);
  tree.file("proc/self/cgroup", "0::/../../outside");
  EXPECT_EQ(cpu_quota(tree.root()), 0.5);
}

TEST(Quota, ThatMakesNoSenseIsNoLimit) {
  for (const char* broken : {"", "x", "max", "-1 100000", "0 100000", "100000", "100000 0", "1e5 100000", "1 1x"}) {
    SystemTree tree;
    tree.file("proc/self/cgroup", broken).file("sys/fs/cgroup/cpu.max", broken);
    EXPECT_EQ(cpu_quota(tree.root()), 0) << broken;
  }
}

TEST(Quota, OfVersion1IsQuotaOverPeriod) {
  for (const char* top : {"cpu", "cpu,cpuacct"}) {
    SystemTree tree;
    const std::string group = fmt::format("sys/fs/cgroup/{}/box/", top);
    tree.file("proc/self/cgroup", "5:memory:/m\n4:cpuacct,cpu:/box\n0::/");
    tree.file(group + "cpu.cfs_quota_us", "-1").file(group + "cpu.cfs_period_us", "100000");
    EXPECT_EQ(cpu_quota(tree.root()), 0);
    tree.file(group + "cpu.cfs_quota_us", "300000");
    EXPECT_EQ(cpu_quota(tree.root()), 3);
  }
}

}  // namespace
}  // namespace plait
