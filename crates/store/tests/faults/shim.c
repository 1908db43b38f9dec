/* A file layer that fails, for LD_PRELOAD. `main.rs` says how it is used.
 *
 * Every call that opens, writes, syncs, renames, truncates or unlinks something below FAULT_DIR is numbered, and one
 * letter of it goes to FAULT_LOG. Call number FAULT_AT is where FAULT_KIND happens: `kill` ends the process before the
 * call, `torn` after the first half of a write, `fail` makes the call fail with FAULT_ERRNO, a write after its first half.
 * While the file FAULT_WHILE exists, every call of a class in FAULT_CLASSES fails.
 *
 * FAULT_SHADOW holds what a power loss would leave: `i<uid>` is the content of a file when it was last synced, `d<n>` the
 * list of a directory when that was. What was not synced is not there. A file whose sync failed with something to write
 * gets no further content: the kernel calls its pages clean, so a second sync that succeeds proves nothing. Syncs do not
 * reach the disk.
 *
 * Calls that a library makes without libc are not seen. Of the store and its database that is one: the rename of a new
 * `current` over the old one. What it changes is seen when the directory is synced. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES_MAX 8192

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *dir, *shadow, *kind, *while_path, *classes;
static size_t dir_len;
static long at, calls;
static int fault_errno, log_fd = -1;
static struct { ino_t ino; int is_tainted; } files[FILES_MAX];
static int files_len;

static long raw_open(const char *path, int flags, mode_t mode) { return syscall(SYS_openat, AT_FDCWD, path, flags, mode); }

static int is_below(const char *path) {
    return dir && path && strncmp(path, dir, dir_len) == 0 && (path[dir_len] == 0 || path[dir_len] == '/');
}

static int fd_is_below(int fd) {
    char link[64], path[4096];
    if (!dir) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return is_below(path);
}

/* The number of a file's content; the newest with its inode counts. */
static int uid_of(ino_t ino, int is_new) {
    if (!is_new)
        for (int uid = files_len - 1; uid >= 0; uid--)
            if (files[uid].ino == ino) return uid;
    if (files_len == FILES_MAX) abort();
    files[files_len].ino = ino;
    files[files_len].is_tainted = 0;
    return files_len++;
}

static void copy(int from, const char *name) {
    static char buffer[1 << 16];
    char link[64], path[4096];
    struct stat stat_of;
    snprintf(link, sizeof link, "/proc/self/fd/%d", from);
    snprintf(path, sizeof path, "%s/%s", shadow, name);
    int in = raw_open(link, O_RDONLY, 0), out = raw_open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (in < 0 || out < 0 || fstat(in, &stat_of)) abort();
    off_t pos = 0;
    while ((pos = lseek(in, pos, SEEK_DATA)) >= 0) {
        ssize_t n = syscall(SYS_pread64, in, buffer, sizeof buffer, pos);
        if (n <= 0) break;
        if (syscall(SYS_pwrite64, out, buffer, n, pos) != n) abort();
        pos += n;
    }
    if (syscall(SYS_ftruncate, out, stat_of.st_size)) abort();
    syscall(SYS_close, in);
    syscall(SYS_close, out);
}

/* Whether a file is as it was when it was last synced. */
static int is_synced(int fd, const char *name) {
    static char ours[1 << 16], theirs[1 << 16];
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    snprintf(path, sizeof path, "%s/%s", shadow, name);
    int in = raw_open(link, O_RDONLY, 0), kept = raw_open(path, O_RDONLY, 0), is_same = kept >= 0;
    while (is_same) {
        ssize_t n = syscall(SYS_read, in, ours, sizeof ours), m = syscall(SYS_read, kept, theirs, sizeof theirs);
        is_same = n == m && !memcmp(ours, theirs, n > 0 ? n : 0);
        if (n <= 0) break;
    }
    syscall(SYS_close, in);
    if (kept >= 0) syscall(SYS_close, kept);
    return is_same;
}

/* Writes the list of a directory: a letter for the type, the uid, the name. */
static void list(int fd) {
    static int lists;
    char link[64], path[4096], out_path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) abort();
    path[n] = 0;
    DIR *entries = opendir(path);
    if (!entries) return;
    snprintf(out_path, sizeof out_path, "%s/d%06d", shadow, lists++);
    int out = raw_open(out_path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (out < 0) abort();
    char line[8192];
    int len = snprintf(line, sizeof line, "%s\n", path + dir_len);
    syscall(SYS_write, out, line, len);
    for (struct dirent *entry; (entry = readdir(entries));) {
        struct stat stat_of;
        if (entry->d_name[0] == '.' && (!entry->d_name[1] || !strcmp(entry->d_name, ".."))) continue;
        if (fstatat(fd, entry->d_name, &stat_of, AT_SYMLINK_NOFOLLOW)) continue;
        int is_dir = S_ISDIR(stat_of.st_mode);
        len = snprintf(line, sizeof line, "%c %d %s\n", is_dir ? 'd' : 'f', is_dir ? 0 : uid_of(stat_of.st_ino, 0), entry->d_name);
        syscall(SYS_write, out, line, len);
    }
    closedir(entries);
    syscall(SYS_close, out);
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

enum verdict { GO_ON, FAIL, TEAR };

/* Counts a call, with the lock held. */
static enum verdict count(char class) {
    if (log_fd >= 0) syscall(SYS_write, log_fd, &class, 1);
    if (while_path && strchr(classes, class) && syscall(SYS_faccessat, AT_FDCWD, while_path, F_OK) == 0) return FAIL;
    if (++calls != at) return GO_ON;
    if (!strcmp(kind, "fail")) return FAIL;
    if (!strcmp(kind, "torn") && class == 'w') return TEAR;
    die();
    return GO_ON;
}

__attribute__((constructor)) static void start(void) {
    const char *text;
    dir = getenv("FAULT_DIR");
    if (!dir) return;
    dir_len = strlen(dir);
    shadow = getenv("FAULT_SHADOW");
    kind = (text = getenv("FAULT_KIND")) ? text : "";
    at = (text = getenv("FAULT_AT")) ? atol(text) : 0;
    fault_errno = (text = getenv("FAULT_ERRNO")) ? atoi(text) : EIO;
    while_path = getenv("FAULT_WHILE");
    classes = (text = getenv("FAULT_CLASSES")) ? text : "";
    if ((text = getenv("FAULT_LOG"))) log_fd = raw_open(text, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
}

static int fails(char class) {
    pthread_mutex_lock(&lock);
    enum verdict verdict = count(class);
    pthread_mutex_unlock(&lock);
    if (verdict == FAIL) errno = fault_errno;
    return verdict == FAIL;
}

static int open_below(int at_fd, const char *path, int flags, mode_t mode) {
    if (!is_below(path)) return syscall(SYS_openat, at_fd, path, flags, mode);
    pthread_mutex_lock(&lock);
    int fd = -1;
    if (count('o') == FAIL) {
        errno = fault_errno;
    } else {
        struct stat stat_of;
        int was_there = !(flags & O_CREAT) || !fstatat(at_fd, path, &stat_of, 0);
        fd = syscall(SYS_openat, at_fd, path, flags, mode);
        if (fd >= 0 && !was_there && !fstat(fd, &stat_of)) uid_of(stat_of.st_ino, 1);
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

#define OPEN_MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { OPEN_MODE(flags) return open_below(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { OPEN_MODE(flags) return open_below(AT_FDCWD, path, flags, mode); }
int openat(int fd, const char *path, int flags, ...) { OPEN_MODE(flags) return open_below(fd, path, flags, mode); }
int openat64(int fd, const char *path, int flags, ...) { OPEN_MODE(flags) return open_below(fd, path, flags, mode); }

/* A write of the first half counts as one that failed. */
#define WRITE(whole, half) \
    if (!fd_is_below(fd)) return whole; \
    pthread_mutex_lock(&lock); \
    enum verdict verdict = count('w'); \
    ssize_t written = -1; \
    if (verdict == GO_ON) written = whole; else half; \
    if (verdict == TEAR) die(); \
    int kept = verdict == FAIL ? fault_errno : errno; \
    pthread_mutex_unlock(&lock); \
    errno = kept; \
    return written;

ssize_t write(int fd, const void *bytes, size_t len) {
    WRITE(syscall(SYS_write, fd, bytes, len), syscall(SYS_write, fd, bytes, len / 2))
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t offset) {
    WRITE(syscall(SYS_pwrite64, fd, bytes, len, offset), syscall(SYS_pwrite64, fd, bytes, len / 2, offset))
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset) { return pwrite64(fd, bytes, len, offset); }

ssize_t writev(int fd, const struct iovec *parts, int len) {
    WRITE(syscall(SYS_writev, fd, parts, len), syscall(SYS_writev, fd, parts, len / 2))
}

static int sync_below(int fd, long call) {
    struct stat stat_of;
    if (!fd_is_below(fd)) return syscall(call, fd);
    pthread_mutex_lock(&lock);
    int is_failed = count('s') == FAIL;
    if (!fstat(fd, &stat_of) && S_ISDIR(stat_of.st_mode)) {
        if (!is_failed && shadow) list(fd);
    } else {
        int uid = uid_of(stat_of.st_ino, 0);
        char name[32];
        snprintf(name, sizeof name, "i%d", uid);
        if (is_failed) files[uid].is_tainted |= shadow && !is_synced(fd, name);
        else if (shadow && !files[uid].is_tainted) copy(fd, name);
    }
    pthread_mutex_unlock(&lock);
    if (is_failed) errno = fault_errno;
    return is_failed ? -1 : 0;
}

int fsync(int fd) { return sync_below(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_below(fd, SYS_fdatasync); }

int rename(const char *from, const char *to) {
    if (is_below(to) && fails('r')) return -1;
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int ftruncate64(int fd, off64_t len) {
    if (fd_is_below(fd) && fails('t')) return -1;
    return syscall(SYS_ftruncate, fd, len);
}

int ftruncate(int fd, off_t len) { return ftruncate64(fd, len); }

int unlink(const char *path) {
    if (is_below(path) && fails('u')) return -1;
    return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int unlinkat(int fd, const char *path, int flags) {
    if (is_below(path) && fails('u')) return -1;
    return syscall(SYS_unlinkat, fd, path, flags);
}

int mkdir(const char *path, mode_t mode) {
    if (is_below(path) && strlen(path) > dir_len && fails('m')) return -1;
    return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
