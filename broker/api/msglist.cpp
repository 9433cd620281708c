// SPDX-License-Identifier: LGPL-3.0-only
// Owns: flux_msglist_*: the requests a streaming service holds, with one cursor that survives deletion while iterating
// forwards. Must not know services. RFC 6 (disconnect and cancel).
#include <cerrno>
#include <list>

#include "broker/api/message.hpp"

using weir::broker::MessagePtr;

/// The cursor is end() before the first item and after the last; deleting the item under it steps back.
struct flux_msglist {
    std::list<MessagePtr> items;
    std::list<MessagePtr>::iterator cursor = items.end();

    const flux_msg_t* at_cursor() const { return cursor == items.end() ? nullptr : cursor->get(); }
    MessagePtr take(std::list<MessagePtr>::iterator item) {
        MessagePtr msg = std::move(*item);
        if (item == cursor) {
            cursor = item == items.begin() ? items.end() : std::prev(item);
        }
        items.erase(item);
        return msg;
    }
};

extern "C" {

struct flux_msglist* flux_msglist_create(void) {
    return new flux_msglist;
}

void flux_msglist_destroy(struct flux_msglist* l) {
    const int saved = errno;
    delete l;
    errno = saved;
}

int flux_msglist_append(struct flux_msglist* l, const flux_msg_t* msg) {
    if (l == nullptr || msg == nullptr) {
        errno = EINVAL;
        return -1;
    }
    l->items.push_back(MessagePtr::share(msg));
    return 0;
}

const flux_msg_t* flux_msglist_pop(struct flux_msglist* l) {
    if (l->items.empty()) {
        return nullptr;
    }
    return l->take(l->cursor != l->items.end() ? l->cursor : l->items.begin()).release();
}

const flux_msg_t* flux_msglist_first(struct flux_msglist* l) {
    l->cursor = l->items.begin();
    return l->at_cursor();
}

const flux_msg_t* flux_msglist_next(struct flux_msglist* l) {
    l->cursor = l->cursor == l->items.end() ? l->items.begin() : std::next(l->cursor);
    return l->at_cursor();
}

void flux_msglist_delete(struct flux_msglist* l) {
    if (l->cursor != l->items.end()) {
        (void)l->take(l->cursor);
    }
}

int flux_msglist_count(struct flux_msglist* l) {
    return l != nullptr ? static_cast<int>(l->items.size()) : 0;
}

int flux_msglist_disconnect(struct flux_msglist* l, const flux_msg_t* msg) {
    int count = 0;
    for (const flux_msg_t* item = flux_msglist_first(l); item != nullptr; item = flux_msglist_next(l)) {
        if (flux_disconnect_match(msg, item)) {
            flux_msglist_delete(l);
            ++count;
        }
    }
    return count;
}

int flux_msglist_cancel(flux_t* h, struct flux_msglist* l, const flux_msg_t* msg) {
    for (const flux_msg_t* item = flux_msglist_first(l); item != nullptr; item = flux_msglist_next(l)) {
        if (flux_cancel_match(msg, item)) {
            if (flux_respond_error(h, item, ENODATA, nullptr) < 0) {
                return -1;
            }
            flux_msglist_delete(l);
            return 1;
        }
    }
    return 0;
}

}  // extern "C"
