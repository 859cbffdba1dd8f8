/* A rank's heartbeat: one thread that sends a datagram now and then and hears those of another rank.
 *
 * Rank r watches rank r + 1 and beats for rank r - 1, so each rank has one that watches it, and of several that are
 * lost one is watched by a rank that is not. Who finds a rank silent tells all, again and again: news that stops is
 * forgotten. The thread needs neither Python nor MPI, so a rank that computes, saves or sleeps goes on beating.
 */
#ifndef DIST_MS_HEARTBEAT_H
#define DIST_MS_HEARTBEAT_H

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEARTBEAT_KEY = 16, HEARTBEAT_BEAT = 1, HEARTBEAT_LOST = 2, HEARTBEAT_NEWS = 3 /* beats that news lasts */ };

typedef struct {
    uint8_t key[HEARTBEAT_KEY];
    int32_t kind, sender, subject;
} heartbeat_message;

typedef struct {
    int socket, wake;
    int rank, size;
    uint8_t key[HEARTBEAT_KEY];
    double every, limit; /* seconds */
    const struct sockaddr_in *addresses;
    const int *first; /* of each rank's addresses; `size` + 1 numbers */
    int lost;         /* the rank that is, -1 for none; read by other threads */
    pthread_t thread;
} heartbeat_state;

static double heartbeat_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void heartbeat_send(const heartbeat_state *h, int rank, int32_t kind, int32_t subject) {
    heartbeat_message m;
    memcpy(m.key, h->key, HEARTBEAT_KEY);
    m.kind = kind, m.sender = h->rank, m.subject = subject;
    for (int i = h->first[rank]; i < h->first[rank + 1]; ++i)
        sendto(h->socket, &m, sizeof m, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&h->addresses[i],
               sizeof h->addresses[i]);
}

static int heartbeat_same_key(const uint8_t *a, const uint8_t *b) {
    uint8_t differ = 0;
    for (int i = 0; i < HEARTBEAT_KEY; ++i) differ |= a[i] ^ b[i];
    return !differ;
}

static void *heartbeat_run(void *argument) {
    heartbeat_state *h = (heartbeat_state *)argument;
    const int watched = (h->rank + 1) % h->size, watcher = (h->rank + h->size - 1) % h->size;
    double last_round = heartbeat_now(), due = last_round, heard = 0, news_until = 0;
    int found_it = 0;
    for (;;) {
        struct pollfd ready[2] = {{h->socket, POLLIN, 0}, {h->wake, POLLIN, 0}};
        double rest = due - heartbeat_now();
        poll(ready, 2, rest > 0 ? (int)(1e3 * rest) + 1 : 0);
        if (ready[1].revents) return NULL;
        const double now = heartbeat_now();
        /* This rank was stopped itself, perhaps with all others: what it has not heard says nothing. */
        if (now - last_round > 2 * h->every && heard > 0) heard = now;
        last_round = now;
        heartbeat_message m;
        for (;;) {
            const ssize_t n = recv(h->socket, &m, sizeof m, MSG_DONTWAIT | MSG_TRUNC);
            if (n < 0) break;
            if (n != (ssize_t)sizeof m || !heartbeat_same_key(m.key, h->key)) continue;
            if (m.kind == HEARTBEAT_BEAT && m.sender == watched) {
                heard = now;
                if (found_it) found_it = 0, __atomic_store_n(&h->lost, -1, __ATOMIC_RELEASE);
            } else if (m.kind == HEARTBEAT_LOST && m.subject >= 0 && m.subject < h->size && m.subject != h->rank) {
                news_until = now + HEARTBEAT_NEWS * h->every;
                __atomic_store_n(&h->lost, m.subject, __ATOMIC_RELEASE);
            }
        }
        if (!found_it && heard > 0 && now - heard > h->limit) {
            found_it = 1, due = now;
            __atomic_store_n(&h->lost, watched, __ATOMIC_RELEASE);
        }
        if (!found_it && h->lost >= 0 && now > news_until) __atomic_store_n(&h->lost, -1, __ATOMIC_RELEASE);
        if (now < due) continue;
        due = now + h->every;
        heartbeat_send(h, watcher, HEARTBEAT_BEAT, h->rank);
        if (found_it)
            for (int r = 0; r < h->size; ++r)
                if (r != h->rank && r != watched) heartbeat_send(h, r, HEARTBEAT_LOST, watched);
    }
}

/* Begin the thread, which takes no signals; 0 for success. */
static int heartbeat_begin(heartbeat_state *h) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int error = pthread_create(&h->thread, NULL, heartbeat_run, h);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

static void heartbeat_end(heartbeat_state *h) {
    const uint64_t one = 1;
    if (write(h->wake, &one, sizeof one) == (ssize_t)sizeof one) pthread_join(h->thread, NULL);
}

/* Open a socket on the loopback interface, or on all; its port, or -1. */
static int heartbeat_open(int *fd, int loopback) {
    struct sockaddr_in a;
    socklen_t size = sizeof a;
    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY);
    *fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (*fd < 0) return -1;
    if (bind(*fd, (struct sockaddr *)&a, sizeof a) || getsockname(*fd, (struct sockaddr *)&a, &size)) return -1;
    return ntohs(a.sin_port);
}

/* Write up to `room` addresses of this machine's interfaces that others may reach, as numbers in network order. */
static int heartbeat_interfaces(uint32_t *found, int room) {
    struct ifaddrs *all, *one;
    int n = 0;
    if (getifaddrs(&all)) return 0;
    for (one = all; one && n < room; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) &&
            !(one->ifa_flags & IFF_LOOPBACK))
            found[n++] = ((const struct sockaddr_in *)one->ifa_addr)->sin_addr.s_addr;
    freeifaddrs(all);
    return n;
}

#endif
