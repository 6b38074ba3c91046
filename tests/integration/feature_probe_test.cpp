// SPDX-License-Identifier: Apache-2.0
// D17: what the daemon decides from the type information of kernels that are not here.
#include "kernel/feature_probe.h"

#include <bpf/btf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kernel/bpf_session.h"

namespace offcpud {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Btf = std::unique_ptr<btf, decltype(&btf__free)>;

// Parameters of btf_trace_sched_switch after the data pointer.
enum class Parameter { Preempt, Task, State };

struct Kernel {
  std::vector<Parameter> sched_switch;
  bool task_storage = true;
  bool cgroup_mkdir = true;
};

void add_tracepoint(btf* types, const std::string& name, const std::vector<int>& parameters) {
  const int proto = btf__add_func_proto(types, 0);
  for (const int type : parameters) btf__add_func_param(types, "", type);
  btf__add_typedef(types, ("btf_trace_" + name).c_str(), btf__add_ptr(types, proto));
}

Btf btf_of(const Kernel& kernel) {
  Btf owner(btf__new_empty(), &btf__free);
  btf* types = owner.get();
  const int boolean = btf__add_int(types, "_Bool", 1, BTF_INT_BOOL);
  const int word = btf__add_int(types, "unsigned int", 4, 0);
  const int data = btf__add_ptr(types, 0);
  const int task = btf__add_struct(types, "task_struct", 64);
  btf__add_field(types, "flags", word, 0, 0);
  if (kernel.task_storage) btf__add_field(types, "bpf_storage", data, 64, 0);
  const int task_pointer = btf__add_ptr(types, task);
  std::vector<int> parameters{data};
  for (const Parameter parameter : kernel.sched_switch) {
    parameters.push_back(parameter == Parameter::Preempt ? boolean
                         : parameter == Parameter::Task  ? task_pointer
                                                         : word);
  }
  add_tracepoint(types, "sched_switch", parameters);
  if (kernel.cgroup_mkdir) add_tracepoint(types, "cgroup_mkdir", {data, data, data});
  return owner;
}

constexpr auto P = Parameter::Preempt;
constexpr auto T = Parameter::Task;
constexpr auto S = Parameter::State;
const HostFacts kHost{.lockdown = "[none] integrity confidentiality\n", .cgroup2_mounted = true};

// Refused with one sentence for a person: what is missing, and what to do.
void expect_unsupported(const FeatureReport& report, const char* missing, const char* remedy) {
  const Status status = report.require();
  ASSERT_FALSE(status) << missing << " is not missed";
  EXPECT_EQ(status.error().kind(), ErrorKind::Unsupported);
  EXPECT_THAT(status.error().message(), AllOf(HasSubstr(missing), HasSubstr(remedy)));
  EXPECT_EQ(status.error().message().find('\n'), std::string::npos);
  EXPECT_EQ(status.error().message().back(), '.');
}

TEST(FeatureProbe, AcceptsPrevStateAsLastArgument) {
  const FeatureReport report = probe_features(btf_of({{P, T, T, S}}).get(), kHost);
  EXPECT_TRUE(report.require());
  EXPECT_TRUE(report.has("sched_switch_prev_state"));
}

TEST(FeatureProbe, RefusesSchedSwitchWithoutPrevState) {  // up to 5.17
  expect_unsupported(probe_features(btf_of({{P, T, T}}).get(), kHost), "sched_switch_prev_state",
                     "boot kernel 6.1 or newer");
}

TEST(FeatureProbe, RefusesPrevStateAsSecondArgument) {  // 5.18 release candidates, backports
  expect_unsupported(probe_features(btf_of({{P, S, T, T}}).get(), kHost), "sched_switch_prev_state",
                     "boot kernel 6.1 or newer");
}

TEST(FeatureProbe, RefusesKernelWithoutTypeInformation) {
  expect_unsupported(probe_features(nullptr, kHost), "btf", "CONFIG_DEBUG_INFO_BTF=y");
}

TEST(FeatureProbe, RefusesKernelWithoutTaskStorage) {
  expect_unsupported(probe_features(btf_of({{P, T, T, S}, false}).get(), kHost), "task_storage",
                     "boot kernel");
}

TEST(FeatureProbe, RefusesHostWithoutCgroup2) {
  HostFacts host = kHost;
  host.cgroup2_mounted = false;
  expect_unsupported(probe_features(btf_of({{P, T, T, S}}).get(), host), "cgroup2", "mount");
}

TEST(FeatureProbe, ConfidentialityTurnsOffWhatReadsKernelMemory) {
  HostFacts host = kHost;
  host.lockdown = "none integrity [confidentiality]\n";
  const FeatureReport report = probe_features(btf_of({{P, T, T, S}}).get(), host);
  EXPECT_TRUE(report.require());
  EXPECT_FALSE(report.has("file_kind"));
  EXPECT_FALSE(report.has("cgroup_events"));
}

TEST(FeatureProbe, IntegrityTurnsNothingOff) {
  HostFacts host = kHost;
  host.lockdown = "none [integrity] confidentiality\n";
  const FeatureReport report = probe_features(btf_of({{P, T, T, S}}).get(), host);
  EXPECT_TRUE(report.has("file_kind"));
  EXPECT_TRUE(report.has("cgroup_events"));
}

TEST(FeatureProbe, MissingCgroupTracepointIsNoError) {
  const FeatureReport report = probe_features(btf_of({{P, T, T, S}, true, false}).get(), kHost);
  EXPECT_TRUE(report.require());
  EXPECT_FALSE(report.has("cgroup_events"));
  EXPECT_FALSE(report.has("disk_loads")) << "it has no tracepoints of requests";
}

// FUSE may be a module, whose types the daemon reads from another file.
TEST(FeatureProbe, FindsTheFieldsOfFuse) {
  const Btf types(btf__new_empty(), &btf__free);
  const int word = btf__add_int(types.get(), "unsigned int", 4, 0);
  const int pointer = btf__add_ptr(types.get(), 0);
  btf__add_struct(types.get(), "fuse_conn", 64);
  btf__add_field(types.get(), "dev", word, 44 * 8, 0);
  btf__add_struct(types.get(), "fuse_dev", 16);
  btf__add_field(types.get(), "fc", pointer, 8 * 8, 0);
  btf__add_struct(types.get(), "fuse_req", 64);
  btf__add_field(types.get(), "waitq", pointer, 16 * 8, 0);
  btf__add_field(types.get(), "fm", pointer, 40 * 8, 0);
  EXPECT_FALSE(fuse_layout(types.get())) << "without fuse_mount";
  btf__add_struct(types.get(), "fuse_mount", 16);
  btf__add_field(types.get(), "fc", pointer, 0, 0);
  btf__add_field(types.get(), "sb", pointer, 8 * 8, 0);
  const auto layout = fuse_layout(types.get());
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->link_device_at, 44);
  EXPECT_EQ(layout->file_link_at, 8);
  EXPECT_EQ(layout->request_wait_at, 16);
  EXPECT_EQ(layout->request_mount_at, 40);
  EXPECT_EQ(layout->mount_link_at, 0);
  EXPECT_EQ(layout->mount_super_at, 8);
}

TEST(FeatureProbe, SaysWhatKeepsStacksFromBeingTaken) {
  FeatureReport report{.features = {{.name = "wakers", .enabled = true},
                                    {.name = "stacks", .enabled = true},
                                    {.name = "file_kind", .remedy = "boot without lockdown"}}};
  EXPECT_TRUE(report.has_stacks());
  EXPECT_EQ(report.why_no_stacks(), "");
  report.refuse("wakers", "unknown func#9999");
  EXPECT_FALSE(report.has_stacks());
  EXPECT_EQ(report.why_no_stacks(),
            "wakers: this kernel refuses its programs (unknown func#9999); boot another kernel");
  report.refuse("stacks", "");
  EXPECT_EQ(report.why_no_stacks(),
            "wakers: this kernel refuses its programs (unknown func#9999); boot another kernel; "
            "stacks: this kernel refuses its programs; boot another kernel");
}

TEST(FeatureProbe, ProgramsLoadWithoutWhatConfidentialityForbids) {
  const Btf types(btf__load_vmlinux_btf(), &btf__free);
  if (!types) GTEST_SKIP() << "this kernel has no type information";
  HostFacts host = read_host_facts();
  host.lockdown = "none integrity [confidentiality]\n";
  const FeatureReport report = probe_features(types.get(), host);
  if (auto status = report.require(); !status) GTEST_SKIP() << status.error().message();
  ASSERT_FALSE(report.has("file_kind"));
  auto session = BpfSession::load({.cgroups = 16}, report);
  if (!session && session.error().kind() == ErrorKind::Permission) {
    GTEST_SKIP() << session.error().message();
  }
  ASSERT_TRUE(session) << session.error().message();
  for (const Feature& feature : session->features().features) {
    EXPECT_FALSE(feature.refused) << feature.name << ": " << feature.remedy;
  }
  const Status attached = session->attach();
  EXPECT_TRUE(attached) << attached.error().message();
}

}  // namespace
}  // namespace offcpud
