// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the events that are waited for, and the order of the steps.
#include "cmd/top/top_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "cmd/common/text.hpp"
#include "cmd/common/time_text.hpp"
#include "cmd/view/priority_text.hpp"
#include "cmd/view/share_stand.hpp"

namespace weir::cmd {
namespace {

using namespace std::chrono_literals;

constexpr Duration look_interval = 1s;
/// The bytes of a cursor key arrive together; no byte follows the key Escape.
constexpr Duration escape_wait = 50ms;
/// Real seconds: the longest wait of a reader for the effect of a key.
constexpr double top_answer_s = 3;
constexpr std::size_t samples_max = 61;

}  // namespace

std::optional<JobRates> RateMeter::add(const LiveAnswer& answer) {
    const JobCounts& jobs = answer.jobs;
    samples_.push_back({answer.now, jobs.pending + jobs.running + jobs.inactive, answer.started, jobs.inactive});
    if (samples_.size() > samples_max) {
        samples_.pop_front();
    }
    const Sample &a = samples_.front(), &b = samples_.back();
    if (!(b.now > a.now)) {
        return std::nullopt;
    }
    // Ended jobs are purged at some time: a rate is not negative.
    const auto per_minute = [&](std::int64_t from, std::int64_t to) {
        return static_cast<double>(std::max<std::int64_t>(0, to - from)) * 60 / (b.now - a.now);
    };
    return JobRates{per_minute(a.submitted, b.submitted), per_minute(a.started, b.started),
                    per_minute(a.ended, b.ended), duration_from_seconds(b.now - a.now)};
}

TopScene top_scene(const LiveAnswer& answer, const std::string& instance, const std::optional<JobRates>& rates) {
    TopScene scene;
    static_cast<LiveScene&>(scene) = answer.scene;
    scene.instance = instance;
    scene.clock = local_time(answer.now);
    scene.pending = answer.jobs.pending;
    scene.running = answer.jobs.running;
    scene.finished = answer.jobs.inactive;
    scene.queue_matches = answer.queue_matches;
    scene.revision = answer.revision;
    scene.nodes = answer.nodes;
    scene.left_out = answer.left_out;
    scene.rates = rates;
    return scene;
}

TopSession::TopSession(Client client, SceneQuery query)
    : uri_(client.uri()),
      instance_(client.attribute("hostname").value_or(uri_)),
      client_(std::move(client)),
      query_(std::move(query)),
      reader_(top_answer_s, screen_of(stream_facts(STDOUT_FILENO)).glyphs.unicode) {
    model_.choose(query_.order, query_.match);
}

Result<LiveAnswer> TopSession::look() {
    return reader_.read(*client_, query_);
}

std::string TopSession::picture(const LiveAnswer& answer, Screen screen) const {
    screen.height = 0;
    std::string text;
    for (const std::string& line : top_view(top_scene(answer, instance_, std::nullopt), model_.choice(), screen)) {
        text += line + "\n";
    }
    return text;
}

void TopSession::refresh() {
    if (!client_) {
        auto again = Client::open(uri_, top_answer_s);
        if (!again) {
            model_.set_problem(again.error().message.substr(0, again.error().message.find('\n')));
            return;
        }
        client_ = std::move(*again);
    }
    query_.order = model_.choice().order;
    query_.match = model_.choice().filter;
    query_.open = model_.open();
    query_.shut = model_.shut();
    auto answer = look();
    if (!answer) {
        model_.set_problem("no answer since " + model_.scene().clock + ": " +
                           answer.error().message.substr(0, answer.error().message.find('\n')));
        client_.reset();
        return;
    }
    const auto rates = rates_.add(*answer);
    model_.take(top_scene(*answer, instance_, rates));
}

void TopSession::draw(LiveTerminal& terminal) {
    terminal.draw(top_view(model_.scene(), model_.choice(), screen_of(stream_facts(STDOUT_FILENO))));
}

void TopSession::explain(const TopWish& wish) {
    if (!client_) {
        return;
    }
    Screen screen = screen_of(stream_facts(STDOUT_FILENO));
    screen.color = false;  // the lines are cut
    if (wish.what == TopWish::What::explain_job) {
        const auto answer = explained_job(*client_, wish.job);
        model_.show_page(answer ? priority_text(answer->get(), screen) : answer.error().message + "\n");
        return;
    }
    Json payload = Json::object();
    payload.set("path", wish.path);
    const auto answer = client_->call("job-priority.share-explain", payload, top_answer_s);
    model_.show_page(answer ? share_explain_text(answer->get(), screen) : answer.error().message + "\n");
}

bool TopSession::fulfil(const TopWish& wish) {
    switch (wish.what) {
        case TopWish::What::quit:
            return false;
        case TopWish::What::look:
            refresh();
            break;
        case TopWish::What::explain_job:
        case TopWish::What::explain_share:
            explain(wish);
            break;
        case TopWish::What::nothing:
            break;
    }
    return true;
}

bool TopSession::take_keys() {
    char bytes[256];
    const ssize_t count = read(key_fd_, bytes, sizeof bytes);
    if (count <= 0) {
        return false;  // the terminal is gone
    }
    keys_.add({bytes, static_cast<std::size_t>(count)});
    TopWish last;  // one reading serves all pasted keys
    for (auto key = keys_.next(); key; key = keys_.next()) {
        const TopWish wish = model_.apply(*key);
        if (wish.what == TopWish::What::quit) {
            return false;
        }
        last = wish.what == TopWish::What::nothing ? last : wish;
    }
    return fulfil(last);
}

void TopSession::run(const LiveAnswer& first) {
    Signals signals(Hangup::ends, WindowSignals::watched);
    key_fd_ = isatty(STDIN_FILENO) == 1 ? STDIN_FILENO : -1;
    LiveTerminal terminal(key_fd_, STDOUT_FILENO);
    model_.take(top_scene(first, instance_, rates_.add(first)));
    Duration look_at = monotonic_now() + look_interval;
    for (bool goes_on = true; goes_on && !signals.is_stop_asked();) {
        draw(terminal);
        const Duration wait = keys_.is_undecided() ? escape_wait : look_at - monotonic_now();
        const int ready = wait_readable({signals.fd(), key_fd_}, wait);
        if (signals.take_suspend()) {
            terminal.leave();
            std::raise(SIGSTOP);
        }
        if (signals.take_redraw()) {
            terminal.enter();
        }
        if (ready == 1) {
            goes_on = take_keys();
        } else if (ready < 0 && keys_.is_undecided()) {
            goes_on = fulfil(model_.apply(keys_.decide()));
        }
        if (monotonic_now() >= look_at) {
            refresh();
            look_at = monotonic_now() + look_interval;
        }
    }
}

}  // namespace weir::cmd
