// Mappings, whole-file reads and atomic writes; see file.h.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static Status io_error(DiagSink *sink, DiagCode code, const char *path, const char *what) {
    Status status =
        diag_error(sink, code, (DiagSpan){.file = path}, "%s: %s", what, strerror(errno));
    (void)status;
    return STATUS_IO;
}

Status file_map_open(const char *path, DiagSink *sink, FileMap *out_map) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_error(sink, DIAG_U0002, path, "cannot open");
    struct stat st;
    Status status = STATUS_OK;
    FileMap map = {0};
    if (fstat(fd, &st) != 0) {
        status = io_error(sink, DIAG_U0002, path, "cannot stat");
    } else if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        status = io_error(sink, DIAG_U0002, path, "not a regular file");
    } else if (st.st_size > 0) {
        void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            status = io_error(sink, DIAG_U0002, path, "cannot map");
        else
            map = (FileMap){.data = data, .len_bytes = (uint64_t)st.st_size};
    }
    close(fd);
    if (status == STATUS_OK) *out_map = map;
    return status;
}

void file_map_close(FileMap *map) {
    if (map->data) munmap((void *)map->data, map->len_bytes);
    *map = (FileMap){0};
}

Status file_read(const char *path, uint64_t max_bytes, DiagSink *sink, char **out_data,
                 uint64_t *out_len_bytes) {
    bool is_stdin = str_equal(path, "-");
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_error(sink, DIAG_U0002, path, "cannot open");
    StrBuf buf = {0};
    char block[65536];
    Status status = STATUS_OK;
    for (;;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = io_error(sink, DIAG_U0002, path, "cannot read");
        if (got <= 0) break;
        if (buf.len + (uint64_t)got > max_bytes) {
            errno = EFBIG;
            status =
                io_error(sink, DIAG_U0002, path, "larger than the limit for this kind of file");
            break;
        }
        strbuf_append(&buf, block, (size_t)got);
    }
    if (!is_stdin) close(fd);
    if (status != STATUS_OK) {
        strbuf_deinit(&buf);
        return status;
    }
    *out_len_bytes = buf.len;
    *out_data = strbuf_take(&buf);
    return STATUS_OK;
}

// Temporaries of this process, for file_writer_cleanup. A handful at most are open at once.
enum { MAX_TEMPORARIES = 16 };
static char *temporaries[MAX_TEMPORARIES];

static void remember(char *temp_path) {
    for (int i = 0; i < MAX_TEMPORARIES; i++) {
        if (temporaries[i]) continue;
        temporaries[i] = temp_path;
        return;
    }
    BUG("more than %d files being written", MAX_TEMPORARIES);
}

static void forget(const char *temp_path) {
    for (int i = 0; i < MAX_TEMPORARIES; i++)
        if (temporaries[i] == temp_path) temporaries[i] = NULL;
}

void file_writer_cleanup(void) {
    for (int i = 0; i < MAX_TEMPORARIES; i++)
        if (temporaries[i]) unlink(temporaries[i]);
}

static const char *name_of_type(mode_t mode) {
    if (S_ISLNK(mode)) return "a symbolic link";
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

// A file can be made in the folder of path.
static Status check_folder(const char *path, DiagSink *sink) {
    const char *end = strrchr(path, '/');
    char *folder = end ? strndup(path, (size_t)MAX(end - path, 1)) : strdup(".");
    if (!folder) base_out_of_memory(strlen(path) + 1, 1);
    bool is_writable = access(folder, W_OK | X_OK) == 0;
    free(folder);
    return is_writable ? STATUS_OK : io_error(sink, DIAG_U0003, path, "cannot create");
}

Status file_check_output(const char *path, const char *const *inputs, DiagSink *sink) {
    struct stat out, in;
    if (lstat(path, &out) != 0) return check_folder(path, sink);
    if (!S_ISREG(out.st_mode)) {
        diag_report(sink, DIAG_ERROR, DIAG_U0003, (DiagSpan){.file = path},
                    "%s, which is never replaced by a result", name_of_type(out.st_mode));
        return STATUS_IO;
    }
    for (; inputs && *inputs; inputs++) {
        if (stat(*inputs, &in) != 0 || in.st_dev != out.st_dev || in.st_ino != out.st_ino) continue;
        diag_report(sink, DIAG_ERROR, DIAG_U0005, (DiagSpan){.file = path},
                    "the result would overwrite %s, which it is made of", *inputs);
        diag_write(sink, "another name for the result");
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

Status file_writer_open(const char *path, const char *const *inputs, DiagSink *sink,
                        FileWriter *out_writer) {
    TRY(file_check_output(path, inputs, sink));
    StrBuf name = {0};
    strbuf_printf(&name, "%s.tmp-%ld", path, (long)getpid());
    char *temp_path = strbuf_take(&name);
    int fd = open(temp_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        free(temp_path);
        return io_error(sink, DIAG_U0003, path, "cannot create");
    }
    remember(temp_path);
    *out_writer = (FileWriter){.fd = fd, .temp_path = temp_path, .path = strdup(path)};
    if (!out_writer->path) base_out_of_memory(strlen(path) + 1, 1);
    return STATUS_OK;
}

Status file_writer_write_at(FileWriter *writer, uint64_t offset, const void *bytes,
                            uint64_t len_bytes, DiagSink *sink) {
    const uint8_t *from = bytes;
    for (uint64_t done = 0; done < len_bytes;) {
        size_t chunk = (size_t)MIN(len_bytes - done, (uint64_t)1 << 30);
        ssize_t put = pwrite(writer->fd, from + done, chunk, (off_t)(offset + done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return io_error(sink, DIAG_U0003, writer->path, "cannot write");
        done += (uint64_t)put;
    }
    writer->len_bytes = MAX(writer->len_bytes, offset + len_bytes);
    return STATUS_OK;
}

Status file_writer_write(FileWriter *writer, const void *bytes, uint64_t len_bytes,
                         DiagSink *sink) {
    return file_writer_write_at(writer, writer->len_bytes, bytes, len_bytes, sink);
}

static void end(FileWriter *writer) {
    forget(writer->temp_path);
    free(writer->temp_path);
    free(writer->path);
    *writer = (FileWriter){.fd = -1};
}

Status file_writer_commit(FileWriter *writer, DiagSink *sink) {
    Status status = STATUS_OK;
    int closed = close(writer->fd);
    if (closed != 0 || rename(writer->temp_path, writer->path) != 0) {
        status = io_error(sink, DIAG_U0003, writer->path, "cannot write");
        unlink(writer->temp_path);
    }
    end(writer);
    return status;
}

void file_writer_abort(FileWriter *writer) {
    close(writer->fd);
    unlink(writer->temp_path);
    end(writer);
}

Status file_write(const char *path, const char *const *inputs, const void *bytes,
                  uint64_t len_bytes, DiagSink *sink) {
    FileWriter writer;
    TRY(file_writer_open(path, inputs, sink, &writer));
    Status status = file_writer_write(&writer, bytes, len_bytes, sink);
    if (status == STATUS_OK) return file_writer_commit(&writer, sink);
    file_writer_abort(&writer);
    return status;
}
