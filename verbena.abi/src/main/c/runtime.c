/* The JVM's libraries, and copies of them for the child of a fork.
 *
 * The libraries that a child inherits are full of its parent's state, so its JVM needs them once more. The loader takes two files
 * for one library when they have the same name. So the copies have other names inside: where a library says "libjvm.so",
 * its copy says "v01jvm.so". All copies of a runtime stand in a folder that is made once and kept for later children. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "verbena.h"

#define JVM "/lib/server/libjvm.so"
#define GENERATIONS_MAX 99

static const char *why = "";

static void *fail(const char *what) {
    why = what;
    return NULL;
}

/* ---- a copy of one library */

static int is_library(const char *name) {
    size_t length = strlen(name);
    return strncmp(name, "lib", 3) == 0 && length > 6 && strcmp(name + length - 3, ".so") == 0;
}

/* The name of a copy: as long as the library's own. */
static void rename_one(char *name, int generation) {
    name[0] = 'v';
    name[1] = (char) ('0' + generation / 10);
    name[2] = (char) ('0' + generation % 10);
}

/* The runtime's own libraries have other names from now on. */
static void rename_runtimes(char *name, int generation, int runtime) {
    char path[NAME_MAX + 8];
    if (is_library(name)) {
        snprintf(path, sizeof path, "%s%s", strcmp(name, "libjvm.so") == 0 ? "server/" : "", name);
        if (faccessat(runtime, path, R_OK, 0) == 0) {
            rename_one(name, generation);
        }
    }
}

/* Where this address of the loaded library is in its file. */
static char *at(char *file, ElfW(Addr) address) {
    ElfW(Ehdr) *header = (ElfW(Ehdr) *) file;
    ElfW(Phdr) *parts = (ElfW(Phdr) *) (file + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        if (parts[i].p_type == PT_LOAD && address >= parts[i].p_vaddr && address < parts[i].p_vaddr + parts[i].p_filesz) {
            return file + parts[i].p_offset + (address - parts[i].p_vaddr);
        }
    }
    return NULL;
}

/* What the library needs, what it is called, and whose versions of functions it asks for. */
static void rename_all(char *file, int generation, int runtime) {
    ElfW(Ehdr) *header = (ElfW(Ehdr) *) file;
    ElfW(Phdr) *parts = (ElfW(Phdr) *) (file + header->e_phoff);
    ElfW(Dyn) *first = NULL;
    char *names = NULL, *versions = NULL;
    for (int i = 0; i < header->e_phnum; i++) {
        if (parts[i].p_type == PT_DYNAMIC) {
            first = (ElfW(Dyn) *) (file + parts[i].p_offset);
        }
    }
    for (ElfW(Dyn) *entry = first; entry && entry->d_tag != DT_NULL; entry++) {
        names = entry->d_tag == DT_STRTAB ? at(file, entry->d_un.d_ptr) : names;
        versions = entry->d_tag == DT_VERNEED ? at(file, entry->d_un.d_ptr) : versions;
    }
    for (ElfW(Dyn) *entry = first; names && entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_NEEDED || entry->d_tag == DT_SONAME) {
            rename_runtimes(names + entry->d_un.d_val, generation, runtime);
        }
    }
    for (ElfW(Verneed) *version = (ElfW(Verneed) *) versions; names && version;) {
        rename_runtimes(names + version->vn_file, generation, runtime);
        version = version->vn_next ? (ElfW(Verneed) *) ((char *) version + version->vn_next) : NULL;
    }
}

static int copy_library(int from, const char *name, int to, int generation) {
    int in = openat(from, name, O_RDONLY | O_CLOEXEC), out = openat(to, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
    struct stat status;
    off_t done = 0;
    int is_done = in >= 0 && out >= 0 && fstat(in, &status) == 0;
    while (is_done && done < status.st_size) {
        ssize_t n = copy_file_range(in, NULL, out, NULL, (size_t) (status.st_size - done), 0);
        char some[1 << 16];
        if (n <= 0) { /* not between these two kinds of file system */
            n = read(in, some, sizeof some);
            n = n > 0 ? write(out, some, (size_t) n) : -1;
        }
        is_done = n > 0;
        done += n;
    }
    char *file = is_done ? mmap(NULL, (size_t) done, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0) : MAP_FAILED;
    is_done = file != MAP_FAILED && done > (off_t) sizeof(ElfW(Ehdr)) && memcmp(file, ELFMAG, SELFMAG) == 0;
    if (is_done) {
        int runtime = openat(from, strcmp(name, "libjvm.so") == 0 ? ".." : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        rename_all(file, generation, runtime);
        close(runtime);
    }
    if (file != MAP_FAILED) {
        munmap(file, (size_t) done);
    }
    close(in);
    close(out);
    char other[NAME_MAX + 1]; /* the loader looks for what a library needs beside it */
    strcpy(other, name);
    rename_one(other, generation);
    return is_done && symlinkat(name, to, other) == 0;
}

/* ---- a copy of a runtime */

/* Libraries are copied, and all else is found where it was. */
static int copy_folder(const char *from, const char *to, int generation) {
    char source[PATH_MAX], target[PATH_MAX];
    DIR *entries = opendir(from);
    int is_done = entries && mkdir(to, 0700) == 0;
    int in = entries ? dirfd(entries) : -1, out = is_done ? open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (struct dirent *entry; is_done && (entry = readdir(entries)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            continue;
        }
        if (snprintf(source, PATH_MAX, "%s/%s", from, name) >= PATH_MAX || snprintf(target, PATH_MAX, "%s/%s", to, name) >= PATH_MAX) {
            is_done = 0;
        } else if (strcmp(name, "lib") == 0 || strcmp(name, "server") == 0) {
            is_done = copy_folder(source, target, generation);
        } else if (is_library(name)) {
            is_done = copy_library(in, name, out, generation);
        } else {
            is_done = symlink(source, target) == 0;
        }
    }
    if (entries) {
        closedir(entries);
    }
    if (out >= 0) {
        close(out);
    }
    return is_done;
}

static void remove_folder(const char *path) {
    DIR *entries = opendir(path);
    char inner[PATH_MAX];
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0
            && snprintf(inner, PATH_MAX, "%s/%s", path, entry->d_name) < PATH_MAX && unlink(inner) != 0) {
            remove_folder(inner);
        }
    }
    if (entries) {
        closedir(entries);
    }
    rmdir(path);
}

/* Made by this user, and by no other. */
static int is_ours(const char *folder) {
    struct stat status;
    return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

/* The folder of this runtime's copy number `generation`, made if it is not there; whether there is one. */
static int find_copy(const char *base, const char *home, const struct stat *jvm, int generation, char *folder) {
    char unfinished[PATH_MAX + 16];
    if (!base || !*base
        || snprintf(folder, PATH_MAX, "%s/verbena-jvm.%d.%lx.%lx.%lx.%d", base, (int) geteuid(), (unsigned long) jvm->st_dev,
               (unsigned long) jvm->st_ino, (unsigned long) jvm->st_mtime, generation) >= PATH_MAX - 32) {
        return 0;
    }
    if (is_ours(folder)) {
        return 1;
    }
    snprintf(unfinished, sizeof unfinished, "%s.%d", folder, (int) getpid());
    int is_made = copy_folder(home, unfinished, generation) && (rename(unfinished, folder) == 0 || is_ours(folder));
    remove_folder(unfinished);
    return is_made;
}

static void *load_copy(const char *path, int generation) {
    char home[PATH_MAX], folder[PATH_MAX], copy[PATH_MAX + sizeof JVM];
    struct stat jvm;
    const char *bases[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp", "/dev/shm"};
    size_t length = realpath(path, home) ? strlen(home) : 0;
    if (length < sizeof JVM || strcmp(home + length - strlen(JVM), JVM) != 0 || stat(home, &jvm) != 0) {
        return fail("the runtime is not laid out as usual, so a forked process cannot have another");
    }
    home[length - strlen(JVM)] = 0;
    fail("there is no folder for a forked process's copy of the runtime");
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (find_copy(bases[i], home, &jvm, generation, folder)) {
            snprintf(copy, sizeof copy, "%s%s", folder, JVM);
            void *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
            if (library) {
                return library;
            }
            fail(dlerror()); /* a file system where nothing may be executed, for example */
        }
    }
    return NULL;
}

/* ---- */

/* Calls of this library that would reach librspreload.so, which makes sockets rsockets, reach the C library from now on. */
static void rebind(void *library) {
    struct link_map *map;
    const char *names = NULL;
    const ElfW(Sym) *symbols = NULL;
    const ElfW(Rela) *tables[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    void *c = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!library || !c || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
        return;
    }
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        const void *at = (const void *) entry->d_un.d_ptr;
        names = entry->d_tag == DT_STRTAB ? at : names;
        symbols = entry->d_tag == DT_SYMTAB ? at : symbols;
        tables[0] = entry->d_tag == DT_JMPREL ? at : tables[0];
        tables[1] = entry->d_tag == DT_RELA ? at : tables[1];
        sizes[0] = entry->d_tag == DT_PLTRELSZ ? entry->d_un.d_val : sizes[0];
        sizes[1] = entry->d_tag == DT_RELASZ ? entry->d_un.d_val : sizes[1];
    }
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; tables[i] && k < sizes[i] / sizeof(ElfW(Rela)); k++) {
            const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(tables[i][k].r_info)];
            void **slot = (void **) (map->l_addr + tables[i][k].r_offset), *real;
            Dl_info found;
            if (symbol->st_name && symbol->st_shndx == SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC
                && dladdr(*slot, &found) && strstr(found.dli_fname, "rspreload")
                && (real = dlsym(c, names + symbol->st_name)) != NULL) {
                uintptr_t page = (uintptr_t) slot & ~((uintptr_t) sysconf(_SC_PAGESIZE) - 1);
                mprotect((void *) page, sizeof *slot + (uintptr_t) slot - page, PROT_READ | PROT_WRITE);
                *slot = real;
            }
        }
    }
}

static int sockets_are_rsockets(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "rspreload");
}

void verbena_keep_sockets(void *function) {
    static const char *const users[] = {"libnet.so", "libnio.so", "libextnet.so"};
    char library[PATH_MAX];
    Dl_info jvm;
    if (!sockets_are_rsockets() || !dladdr(function, &jvm) || strlen(jvm.dli_fname) < strlen(JVM)) {
        return;
    }
    int length = (int) (strlen(jvm.dli_fname) - strlen(JVM));
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        if (snprintf(library, PATH_MAX, "%.*s/lib/%s", length, jvm.dli_fname, users[i]) < PATH_MAX) {
            rebind(dlopen(library, RTLD_NOW | RTLD_LOCAL)); /* the JVM finds it open */
        }
    }
}

void *verbena_load_jvm(const char *path, int is_forked) {
    static int generation;
    if (is_forked && generation == GENERATIONS_MAX) {
        return fail("too many forks, one in the other");
    }
    void *library = is_forked ? load_copy(path, ++generation) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library && sockets_are_rsockets()) {
        rebind(library);
    }
    return library || is_forked ? library : fail(dlerror());
}

const char *verbena_why_no_jvm(void) { return why; }
