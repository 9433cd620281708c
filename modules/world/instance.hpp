// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one simulated broker: its parts, the channels between them, and the processes that it started. It dies as a
// whole, and its processes with it. Must not know clients, faults or checkers.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "modules/world/manager.hpp"
#include "modules/world/priority_part.hpp"
#include "modules/world/route_part.hpp"
#include "modules/world/sched_part.hpp"
#include "modules/world/submissions.hpp"

namespace weir::world {

/// What an instance asks of the world around it.
struct Surroundings {
    Machine& machine;
    std::deque<Submission>& submissions;
    std::function<Instance*()> parent;
    /// A child instance begins as the job `host` on these cores; false: it cannot begin now.
    std::function<bool(std::size_t place, std::uint64_t host, std::vector<std::uint32_t> cores)> boot;
    /// The child instance is to end.
    std::function<void(std::size_t place)> end;
    /// A scheduler is asked for the cores of a job of this submission.
    std::function<void(std::size_t submission)> asked;
    /// A process of this submission begins here.
    std::function<void(const Submission& submission)> began;
    /// The partitions that the instance keeps now.
    std::function<std::vector<route::KeptPartition>()> partitions;
    std::function<std::uint64_t()> partitions_version;
};

/// Processes of an instance's jobs: job-exec and what it starts.
class Executor : public Part {
  public:
    Executor(Process& process, Instance& instance, Surroundings& around)
        : Part(process), instance_(instance), around_(around) {}
    ~Executor() override;
    void start(std::uint64_t id, const std::string& jobspec, const std::string& R);
    void kill(std::uint64_t id);
    /// A child instance ended.
    void child_ended(std::uint64_t id, int status);
    std::size_t processes() const { return running_.size(); }

  private:
    struct Running {
        std::size_t submission = 0;
        std::vector<std::uint32_t> cores;
        bool is_child = false;
        bool is_killed = false;
    };
    void begin(std::uint64_t id, Running running);
    void end(std::uint64_t id, int status);

    Instance& instance_;
    Surroundings& around_;
    std::map<std::uint64_t, Running> running_;
};

class Instance {
  public:
    struct Facts {
        std::string name;
        std::string serial;  ///< of this life, of all lives in the world
        Clock clock;
        std::uint64_t host = 0;            ///< its job at the parent; 0: it is the root
        std::vector<std::uint32_t> cores;  ///< of the machine, in the order of its own numbers
        std::string serves;
        bool is_following = false;
        std::set<std::string> queues;  ///< whose jobs its children run
        priority::Settings settings;
        Policy policy;
        std::string share_tree;
    };
    Instance(Ground& ground, StateDir& disk, Facts facts, Surroundings around);
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    Process& process() { return process_; }
    const Facts& facts() const { return facts_; }
    Manager& manager() { return *manager_; }
    RoutePart& route() { return *route_; }
    PriorityPart& priority() { return *priority_; }
    SchedPart& sched() { return *sched_; }
    /// The module is removed and loaded again. The job-manager goes on, with the plugin.
    void reload_priority();
    Executor& executor() { return *executor_; }
    /// A message is under way to one of its parts, or waits for the stopped process.
    bool is_busy() const;
    /// A client's request.
    void ask(std::function<void(Manager&)> request) { send(*manager_, Way::client, std::move(request)); }

  private:
    friend class Executor;
    enum class Way : std::uint8_t {
        client,
        priority_in,
        priority_out,
        route_in,
        route_out,
        sched_in,
        sched_out,
        exec_in,
        exec_out,
        given,
        count
    };
    Channel& channel(Way way) { return channels_[static_cast<std::size_t>(way)]; }
    void send(Manager& manager, Way way, std::function<void(Manager&)> request);
    ManagerMessages messages();
    std::string resources() const;
    std::unique_ptr<PriorityPart> make_priority();
    std::function<void(std::function<void(Manager&)>)> to_manager(Way way);

    Process process_;
    StateDir& disk_;
    Facts facts_;
    Surroundings around_;
    std::array<Channel, static_cast<std::size_t>(Way::count)> channels_;
    std::unique_ptr<Manager> manager_;
    std::unique_ptr<PriorityPart> priority_;
    std::unique_ptr<RoutePart> route_;
    std::unique_ptr<SchedPart> sched_;
    std::unique_ptr<Executor> executor_;
};

}  // namespace weir::world
