// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how messages reach a part of a process, and when they do not: they arrive late, in order of their channel;
// those for a stopped process wait; those for a part that is gone are lost. Must not know what the messages say.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "modules/world/clock.hpp"
#include "modules/world/ground.hpp"

namespace weir::world {

/// A process, as far as time is concerned.
struct Process {
    Ground& ground;
    std::string name;
    Clock clock;
    Instant stopped_since{};  ///< SIGSTOP
    Instant stopped_until{};
};

/// The way of messages from one sender to one receiver.
struct Channel {
    Instant last{};  ///< the arrival of the latest message
};

class Link;

class Part {
  public:
    explicit Part(Process& process) : process_(process), life_(std::make_shared<char>()) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    virtual ~Part();

    /// A message on its way to this part.
    void receive(Channel& channel, Task task);
    /// A timer of this part.
    void later(Duration delay, Task task) { arrive(ground().now() + delay, std::move(task)); }
    void keep(const std::shared_ptr<Link>& link) { links_.push_back(link); }
    /// Its connections that are up.
    std::vector<std::shared_ptr<Link>> links() const;
    /// A message of one of them has not reached its receiver.
    bool is_link_busy() const;
    Ground& ground() const { return process_.ground; }
    /// What the process's clock says; true time is the ground's.
    Instant clock_now() const { return process_.clock.now(process_.ground); }
    Process& process() const { return process_; }

  protected:
    void note(const std::string& what) const { ground().note(process_.name, what); }

    /// For a message to another part whose answer comes back here: whether this part is still there.
    std::weak_ptr<char> life() const { return life_; }

  private:
    void arrive(Instant when, Task task);

    Process& process_;
    std::shared_ptr<char> life_;
    std::vector<std::weak_ptr<Link>> links_;
};

/// A connection of a child's part to a part of its parent.
class Link : public std::enable_shared_from_this<Link> {
  public:
    /// \param child_lost, parent_lost  what each side does when it learns that the link is gone
    static std::shared_ptr<Link> open(Part& child, Part& parent, Task child_lost, Task parent_lost);
    bool is_up() const { return is_up_; }
    bool is_busy(Instant now) const { return up_.last >= now || down_.last >= now; }
    void up(Task message);
    void down(Task message);
    /// Both sides learn it, each behind the messages that still reach it.
    void close();
    /// Messages from now on wait for so long.
    void delay(Duration by);

  private:
    Part* child_ = nullptr;  ///< of both: until close()
    Part* parent_ = nullptr;
    Task child_lost_;
    Task parent_lost_;
    Channel up_;
    Channel down_;
    bool is_up_ = true;
    bool loses_up_ = false;  ///< what was under way when it was closed
    bool loses_down_ = false;
};

}  // namespace weir::world
