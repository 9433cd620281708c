/* SPDX-License-Identifier: LGPL-3.0-only
 * The subset of the public Flux C API that Weir's modules and its command use: same names, types, values and semantics
 * as flux-core's <flux/core.h>, so that one DSO loads in a stock flux-broker and in Weir's embedded broker.
 * Source: flux-core's manual pages section 3, RFC 3, 5, 6, 12. Layouts that cross the ABI are marked "by value".
 * This header must stay plain C and must not know the implementation. */
#ifndef FLUX_CORE_H
#define FLUX_CORE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- opaque types ---- */
typedef struct flux_handle flux_t;
typedef struct flux_msg flux_msg_t;
typedef struct flux_reactor flux_reactor_t;
typedef struct flux_watcher flux_watcher_t;
typedef struct flux_future flux_future_t;
typedef struct flux_msg_handler flux_msg_handler_t;
typedef struct flux_conf flux_conf_t;
typedef struct flux_plugin flux_plugin_t;
typedef struct flux_plugin_arg flux_plugin_arg_t;
typedef void (*flux_free_f)(void *arg);
typedef uint64_t flux_jobid_t;
typedef struct { char text[160]; } flux_error_t; /* by value */

/* ---- messages (RFC 3) ---- */
enum {
    FLUX_MSGTYPE_REQUEST = 0x01,
    FLUX_MSGTYPE_RESPONSE = 0x02,
    FLUX_MSGTYPE_EVENT = 0x04,
    FLUX_MSGTYPE_CONTROL = 0x08,
    FLUX_MSGTYPE_ANY = 0x0f,
    FLUX_MSGTYPE_MASK = 0x0f,
};
enum {
    FLUX_MSGFLAG_TOPIC = 0x01,
    FLUX_MSGFLAG_PAYLOAD = 0x02,
    FLUX_MSGFLAG_NORESPONSE = 0x04,
    FLUX_MSGFLAG_ROUTE = 0x08,
    FLUX_MSGFLAG_UPSTREAM = 0x10,
    FLUX_MSGFLAG_PRIVATE = 0x20,
    FLUX_MSGFLAG_STREAMING = 0x40,
    FLUX_MSGFLAG_USER1 = 0x80,
};
#define FLUX_NODEID_ANY 0xFFFFFFFFu
#define FLUX_NODEID_UPSTREAM 0xFFFFFFFEu
#define FLUX_MATCHTAG_NONE 0u
#define FLUX_USERID_UNKNOWN 0xFFFFFFFFu
enum {
    FLUX_ROLE_NONE = 0,
    FLUX_ROLE_OWNER = 1,
    FLUX_ROLE_USER = 2,
    FLUX_ROLE_LOCAL = 4,
    FLUX_ROLE_ADMIN = 8,
};
#define FLUX_ROLE_ALL 0xFFFFFFFFu

struct flux_match { /* by value */
    int typemask;
    uint32_t matchtag;
    const char *topic_glob;
};
#define FLUX_MATCH_ANY (struct flux_match){FLUX_MSGTYPE_ANY, FLUX_MATCHTAG_NONE, NULL}
struct flux_msg_cred { /* by value */
    uint32_t userid;
    uint32_t rolemask;
};

int flux_msg_get_cred(const flux_msg_t *msg, struct flux_msg_cred *cred);
int flux_msg_authorize(const flux_msg_t *msg, uint32_t userid);
const flux_msg_t *flux_msg_incref(const flux_msg_t *msg);
void flux_msg_decref(const flux_msg_t *msg);
bool flux_msg_is_streaming(const flux_msg_t *msg);
bool flux_msg_is_noresponse(const flux_msg_t *msg);
const char *flux_msg_route_first(const flux_msg_t *msg);
const char *flux_msg_route_last(const flux_msg_t *msg);
int flux_msg_get_topic(const flux_msg_t *msg, const char **topic);
int flux_msg_get_matchtag(const flux_msg_t *msg, uint32_t *matchtag);
void flux_msg_destroy(flux_msg_t *msg);
bool flux_disconnect_match(const flux_msg_t *msg1, const flux_msg_t *msg2); /* same sender */
bool flux_cancel_match(const flux_msg_t *cancel, const flux_msg_t *request); /* same sender and payload {"matchtag"} */

/* A list of messages held by a streaming service. */
struct flux_msglist;
struct flux_msglist *flux_msglist_create(void);
void flux_msglist_destroy(struct flux_msglist *l);
int flux_msglist_append(struct flux_msglist *l, const flux_msg_t *msg);
const flux_msg_t *flux_msglist_pop(struct flux_msglist *l);
const flux_msg_t *flux_msglist_first(struct flux_msglist *l);
const flux_msg_t *flux_msglist_next(struct flux_msglist *l);
void flux_msglist_delete(struct flux_msglist *l);
int flux_msglist_count(struct flux_msglist *l);
int flux_msglist_cancel(flux_t *h, struct flux_msglist *l, const flux_msg_t *msg);
int flux_msglist_disconnect(struct flux_msglist *l, const flux_msg_t *msg);

/* ---- handle ---- */
enum {
    FLUX_O_TRACE = 1,
    FLUX_O_CLONE = 2,
    FLUX_O_NONBLOCK = 4,
    FLUX_O_MATCHDEBUG = 8,
    FLUX_O_TEST_NOSUB = 16,
    FLUX_O_RPCTRACK = 32,
    FLUX_O_NOREQUEUE = 64,
};
enum { FLUX_POLLIN = 1, FLUX_POLLOUT = 2, FLUX_POLLERR = 4 };
typedef int (*flux_comms_error_f)(flux_t *h, void *arg);

flux_t *flux_open(const char *uri, int flags);
flux_t *flux_open_ex(const char *uri, int flags, flux_error_t *error);
void flux_close(flux_t *h);
flux_reactor_t *flux_get_reactor(flux_t *h);
int flux_set_reactor(flux_t *h, flux_reactor_t *r);
void *flux_aux_get(flux_t *h, const char *name);
int flux_aux_set(flux_t *h, const char *name, void *aux, flux_free_f destroy);
int flux_pollfd(flux_t *h);
int flux_pollevents(flux_t *h);
void flux_comms_error_set(flux_t *h, flux_comms_error_f fun, void *arg);
const char *flux_attr_get(flux_t *h, const char *name);
int flux_get_rank(flux_t *h, uint32_t *rank);
int flux_get_size(flux_t *h, uint32_t *size);
typedef struct { /* by value */
    int request_tx, request_rx, response_tx, response_rx, event_tx, event_rx, control_tx, control_rx;
} flux_msgcounters_t;
void flux_get_msgcounters(flux_t *h, flux_msgcounters_t *mcs);
void flux_clr_msgcounters(flux_t *h);
int flux_send(flux_t *h, const flux_msg_t *msg, int flags);
flux_msg_t *flux_recv(flux_t *h, struct flux_match match, int flags);

/* ---- configuration (TOML, seen as JSON) ---- */
const flux_conf_t *flux_get_conf(flux_t *h);
int flux_set_conf_new(flux_t *h, const flux_conf_t *conf);
int flux_conf_unpack(const flux_conf_t *conf, flux_error_t *error, const char *fmt, ...);
const flux_conf_t *flux_conf_incref(const flux_conf_t *conf);
void flux_conf_decref(const flux_conf_t *conf);
int flux_module_config_request_decode(const flux_msg_t *msg, flux_conf_t **conf);
int flux_module_set_running(flux_t *h);

/* ---- reactor and watchers ---- */
enum { FLUX_REACTOR_NOWAIT = 1, FLUX_REACTOR_ONCE = 2 };
enum { FLUX_REACTOR_SIGCHLD = 1 };
typedef void (*flux_watcher_f)(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg);
typedef double (*flux_reschedule_f)(flux_watcher_t *w, double now, void *arg);

flux_reactor_t *flux_reactor_create(int flags);
void flux_reactor_destroy(flux_reactor_t *r);
int flux_reactor_run(flux_reactor_t *r, int flags);
void flux_reactor_stop(flux_reactor_t *r);
void flux_reactor_stop_error(flux_reactor_t *r);
double flux_reactor_now(flux_reactor_t *r);
void flux_reactor_now_update(flux_reactor_t *r);
double flux_reactor_time(void);
void flux_watcher_start(flux_watcher_t *w);
void flux_watcher_stop(flux_watcher_t *w);
void flux_watcher_destroy(flux_watcher_t *w);
flux_watcher_t *flux_timer_watcher_create(flux_reactor_t *r, double after, double repeat, flux_watcher_f cb, void *arg);
void flux_timer_watcher_reset(flux_watcher_t *w, double after, double repeat);
flux_watcher_t *flux_periodic_watcher_create(flux_reactor_t *r, double offset, double interval,
                                             flux_reschedule_f reschedule, flux_watcher_f cb, void *arg);
flux_watcher_t *flux_fd_watcher_create(flux_reactor_t *r, int fd, int events, flux_watcher_f cb, void *arg);
flux_watcher_t *flux_handle_watcher_create(flux_reactor_t *r, flux_t *h, int events, flux_watcher_f cb, void *arg);
flux_watcher_t *flux_prepare_watcher_create(flux_reactor_t *r, flux_watcher_f cb, void *arg);
flux_watcher_t *flux_check_watcher_create(flux_reactor_t *r, flux_watcher_f cb, void *arg);
flux_watcher_t *flux_idle_watcher_create(flux_reactor_t *r, flux_watcher_f cb, void *arg);
flux_watcher_t *flux_signal_watcher_create(flux_reactor_t *r, int signum, flux_watcher_f cb, void *arg);

/* ---- message handlers (RFC 6) ---- */
typedef void (*flux_msg_handler_f)(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);
struct flux_msg_handler_spec { /* by value; a table ends with FLUX_MSGHANDLER_TABLE_END */
    int typemask;
    const char *topic_glob;
    flux_msg_handler_f cb;
    uint32_t rolemask;
};
#define FLUX_MSGHANDLER_TABLE_END {0, NULL, NULL, 0}
int flux_msg_handler_addvec(flux_t *h, const struct flux_msg_handler_spec tab[], void *arg, flux_msg_handler_t **msgs[]);
int flux_msg_handler_addvec_ex(flux_t *h, const char *service_name, const struct flux_msg_handler_spec tab[], void *arg,
                               flux_msg_handler_t **msgs[]);
void flux_msg_handler_delvec(flux_msg_handler_t *msgs[]);

flux_msg_t *flux_request_encode(const char *topic, const char *s); /* nodeid any, matchtag none */
int flux_response_decode(const flux_msg_t *msg, const char **topic, const char **s);
int flux_request_decode(const flux_msg_t *msg, const char **topic, const char **s);
int flux_request_unpack(const flux_msg_t *msg, const char **topic, const char *fmt, ...);
int flux_respond(flux_t *h, const flux_msg_t *request, const char *s);
int flux_respond_pack(flux_t *h, const flux_msg_t *request, const char *fmt, ...);
int flux_respond_error(flux_t *h, const flux_msg_t *request, int errnum, const char *errstr);

/* ---- futures and RPC ---- */
enum { FLUX_RPC_NORESPONSE = 1, FLUX_RPC_STREAMING = 2 };
typedef void (*flux_continuation_f)(flux_future_t *f, void *arg);
flux_future_t *flux_rpc(flux_t *h, const char *topic, const char *s, uint32_t nodeid, int flags);
flux_future_t *flux_rpc_pack(flux_t *h, const char *topic, uint32_t nodeid, int flags, const char *fmt, ...);
int flux_rpc_get(flux_future_t *f, const char **s);
int flux_rpc_get_unpack(flux_future_t *f, const char *fmt, ...);
uint32_t flux_rpc_get_matchtag(flux_future_t *f); /* for a SERVICE.cancel request {"matchtag"} */
int flux_future_get(flux_future_t *f, const void **result);
int flux_future_then(flux_future_t *f, double timeout, flux_continuation_f cb, void *arg);
int flux_future_wait_for(flux_future_t *f, double timeout);
bool flux_future_is_ready(flux_future_t *f);
void flux_future_reset(flux_future_t *f);
void flux_future_destroy(flux_future_t *f);
bool flux_future_has_error(flux_future_t *f);
const char *flux_future_error_string(flux_future_t *f);
flux_t *flux_future_get_flux(flux_future_t *f);
int flux_future_aux_set(flux_future_t *f, const char *name, void *aux, flux_free_f destroy);
void *flux_future_aux_get(flux_future_t *f, const char *name);
const char *flux_strerror(int errnum);
int flux_log(flux_t *h, int level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* ---- events and services ---- */
enum { FLUX_EVENT_PRIVATE = 1 };
int flux_event_subscribe(flux_t *h, const char *topic);
int flux_event_unsubscribe(flux_t *h, const char *topic);
int flux_event_decode(const flux_msg_t *msg, const char **topic, const char **s);
int flux_event_unpack(const flux_msg_t *msg, const char **topic, const char *fmt, ...);
flux_future_t *flux_event_publish_pack(flux_t *h, const char *topic, int flags, const char *fmt, ...);
flux_future_t *flux_service_register(flux_t *h, const char *name);
flux_future_t *flux_service_unregister(flux_t *h, const char *name);

/* ---- plugins ---- */
enum { FLUX_PLUGIN_ARG_IN = 0, FLUX_PLUGIN_ARG_OUT = 1, FLUX_PLUGIN_ARG_REPLACE = 2 };
enum { FLUX_PLUGIN_RTLD_LAZY = 1, FLUX_PLUGIN_RTLD_NOW = 2, FLUX_PLUGIN_RTLD_GLOBAL = 4, FLUX_PLUGIN_RTLD_DEEPBIND = 8 };
typedef int (*flux_plugin_f)(flux_plugin_t *p, const char *topic, flux_plugin_arg_t *args, void *data);
struct flux_plugin_handler { /* by value; a table ends with a NULL topic */
    const char *topic;
    flux_plugin_f cb;
    void *data;
};
flux_plugin_t *flux_plugin_create(void);
void flux_plugin_destroy(flux_plugin_t *p);
int flux_plugin_set_name(flux_plugin_t *p, const char *name);
const char *flux_plugin_get_name(flux_plugin_t *p);
const char *flux_plugin_get_uuid(flux_plugin_t *p);
const char *flux_plugin_get_path(flux_plugin_t *p);
const char *flux_plugin_strerror(flux_plugin_t *p);
int flux_plugin_set_flags(flux_plugin_t *p, int flags);
int flux_plugin_load_dso(flux_plugin_t *p, const char *path);
int flux_plugin_set_conf(flux_plugin_t *p, const char *json_str);
const char *flux_plugin_get_conf(flux_plugin_t *p);
int flux_plugin_conf_unpack(flux_plugin_t *p, const char *fmt, ...);
int flux_plugin_register(flux_plugin_t *p, const char *name, const struct flux_plugin_handler t[]);
int flux_plugin_add_handler(flux_plugin_t *p, const char *topic, flux_plugin_f cb, void *arg);
flux_plugin_f flux_plugin_match_handler(flux_plugin_t *p, const char *topic);
int flux_plugin_call(flux_plugin_t *p, const char *topic, flux_plugin_arg_t *args);
int flux_plugin_aux_set(flux_plugin_t *p, const char *key, void *val, flux_free_f free_fn);
void *flux_plugin_aux_get(flux_plugin_t *p, const char *key);
flux_plugin_arg_t *flux_plugin_arg_create(void);
void flux_plugin_arg_destroy(flux_plugin_arg_t *args);
const char *flux_plugin_arg_strerror(flux_plugin_arg_t *args);
int flux_plugin_arg_set(flux_plugin_arg_t *args, int flags, const char *json_str);
int flux_plugin_arg_get(flux_plugin_arg_t *args, int flags, char **json_str);
int flux_plugin_arg_pack(flux_plugin_arg_t *args, int flags, const char *fmt, ...);
int flux_plugin_arg_unpack(flux_plugin_arg_t *args, int flags, const char *fmt, ...);

/* ---- jobs (RFC 21, 30) ---- */
#define FLUX_JOBID_ANY 0xFFFFFFFFFFFFFFFFull
enum {
    FLUX_JOB_STATE_NEW = 1,
    FLUX_JOB_STATE_DEPEND = 2,
    FLUX_JOB_STATE_PRIORITY = 4,
    FLUX_JOB_STATE_SCHED = 8,
    FLUX_JOB_STATE_RUN = 16,
    FLUX_JOB_STATE_CLEANUP = 32,
    FLUX_JOB_STATE_INACTIVE = 64,
};
enum { FLUX_JOB_STATE_PENDING = 14, FLUX_JOB_STATE_RUNNING = 48, FLUX_JOB_STATE_ACTIVE = 62 };
enum { FLUX_JOB_RESULT_COMPLETED = 1, FLUX_JOB_RESULT_FAILED = 2, FLUX_JOB_RESULT_CANCELED = 4, FLUX_JOB_RESULT_TIMEOUT = 8 };
enum { FLUX_JOB_URGENCY_MIN = 0, FLUX_JOB_URGENCY_HOLD = 0, FLUX_JOB_URGENCY_DEFAULT = 16, FLUX_JOB_URGENCY_MAX = 31, FLUX_JOB_URGENCY_EXPEDITE = 31 };
#define FLUX_JOB_PRIORITY_MIN 0u
#define FLUX_JOB_PRIORITY_MAX 4294967295u
enum { FLUX_JOB_PRE_SIGNED = 1, FLUX_JOB_DEBUG = 2, FLUX_JOB_WAITABLE = 4, FLUX_JOB_NOVALIDATE = 8 };
int flux_job_id_parse(const char *s, flux_jobid_t *id);
int flux_job_id_encode(flux_jobid_t id, const char *type, char *buf, size_t bufsz);
int flux_job_kvs_key(char *buf, int bufsz, flux_jobid_t id, const char *key);

#ifdef __cplusplus
}
#endif
#endif /* !FLUX_CORE_H */
