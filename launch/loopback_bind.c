/* Preloaded into mpirun for a job on one machine: its sockets listen on the loopback interface alone.

   PRRTE, the runtime of Open MPI 5, and ORTE, that of Open MPI 4, listen on all interfaces for their daemons on
   other machines, and no setting of theirs changes that. Where all ranks are on this machine there are no daemons.
   The library acts in these programs only, and takes itself out of LD_PRELOAD there: ranks never see it. */

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const runtimes[] = {"prte", "prterun", "orterun"};
static int acts;

/* Leave the user's own libraries in LD_PRELOAD; this one stands before them. */
static void leave_the_environment(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    const char *others = preloaded == NULL ? NULL : strchr(preloaded, ':');
    if (others == NULL)
        unsetenv("LD_PRELOAD");
    else {
        char *kept = strdup(others + 1); /* setenv may overwrite what getenv returned */
        if (kept != NULL)
            setenv("LD_PRELOAD", kept, 1);
        free(kept);
    }
}

__attribute__((constructor)) static void start(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return;
    path[length] = '\0';
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        acts |= strcmp(name, runtimes[i]) == 0;
    if (acts)
        leave_the_environment();
}

int bind(int socket, const struct sockaddr *address, socklen_t length)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (acts && address->sa_family == AF_INET && length >= sizeof v4) {
        memcpy(&v4, address, sizeof v4);
        if (v4.sin_addr.s_addr == htonl(INADDR_ANY)) {
            v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            address = (const struct sockaddr *)&v4;
            length = sizeof v4;
        }
    }
    else if (acts && address->sa_family == AF_INET6 && length >= sizeof v6) {
        memcpy(&v6, address, sizeof v6);
        if (memcmp(&v6.sin6_addr, &in6addr_any, sizeof in6addr_any) == 0) {
            v6.sin6_addr = in6addr_loopback;
            address = (const struct sockaddr *)&v6;
            length = sizeof v6;
        }
    }
    return (int)syscall(SYS_bind, socket, address, length);
}
