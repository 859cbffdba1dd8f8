/* A limit on what may hang while it holds the interpreter's lock: a thread without Python ends the process. */
#ifndef DIST_MS_TIME_LIMIT_H
#define DIST_MS_TIME_LIMIT_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    double seconds;
    int code;
    int kept; /* what was limited has ended in time; then the thread frees this */
    char words[];
} time_limit_state;

static void *time_limit_wait(void *argument) {
    time_limit_state *limit = (time_limit_state *)argument;
    struct timespec rest = {(time_t)limit->seconds, 0};
    rest.tv_nsec = (long)(1e9 * (limit->seconds - (double)rest.tv_sec));
    while (nanosleep(&rest, &rest)) {
    }
    if (__atomic_load_n(&limit->kept, __ATOMIC_ACQUIRE)) {
        free(limit);
        return NULL;
    }
    const ssize_t written = write(STDERR_FILENO, limit->words, strlen(limit->words));
    (void)written; /* nobody may read any more */
    _exit(limit->code);
}

/* Begin the thread, which takes no signals; NULL where there is none to be had. */
static time_limit_state *time_limit_begin(double seconds, int code, const char *words) {
    time_limit_state *limit = (time_limit_state *)malloc(sizeof *limit + strlen(words) + 1);
    if (!limit) return NULL;
    limit->seconds = seconds, limit->code = code, limit->kept = 0;
    strcpy(limit->words, words);
    sigset_t all, old;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int error = pthread_create(&thread, NULL, time_limit_wait, limit);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error) {
        free(limit);
        return NULL;
    }
    pthread_detach(thread);
    return limit;
}

static void time_limit_end(time_limit_state *limit) { __atomic_store_n(&limit->kept, 1, __ATOMIC_RELEASE); }

#endif
