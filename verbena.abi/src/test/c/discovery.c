/* Looks for devices as programs do that do not only call libibverbs: in /sys and /dev, by every function that leads there. */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "check.h"

#define CLASS "/sys/class/infiniband"

static char text[256];

/* The first line of a file below the device's folder, by open and read. */
static const char *line(const char *device, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, CLASS "/%s/%s", device, name);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    close(fd);
    text[n < 0 ? 0 : n] = 0;
    text[strcspn(text, "\n")] = 0;
    return text;
}

static int lists(const char *folder, const char *name) {
    DIR *dir = opendir(folder);
    int found = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        found |= strcmp(entry->d_name, name) == 0;
    }
    if (dir) {
        closedir(dir);
    }
    return found;
}

/* What UCX asks of a device before it uses it. */
static int is_accessible(const char *verbs_name) {
    char path[PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, "/dev/infiniband/%s", verbs_name);
    return stat(path, &status) == 0 && S_ISCHR(status.st_mode) && access(path, R_OK | W_OK) == 0;
}

static void gids_are_those_of_the_port(struct ibv_context *context, const char *name) {
    struct ibv_port_attr port;
    EXPECT(ibv_query_port(context, 1, &port) == 0);
    for (int i = 0; i < port.gid_tbl_len; i++) {
        union ibv_gid gid;
        char path[64], wanted[64];
        EXPECT(ibv_query_gid(context, 1, i, &gid) == 0);
        int length = 0;
        for (int j = 0; j < 16; j += 2) {
            length += snprintf(wanted + length, sizeof wanted - length, "%s%02x%02x", j ? ":" : "", gid.raw[j], gid.raw[j + 1]);
        }
        snprintf(path, sizeof path, "ports/1/gids/%d", i);
        EXPECT(strcmp(line(name, path), wanted) == 0);
        snprintf(path, sizeof path, "ports/1/gid_attrs/types/%d", i);
        EXPECT(strcmp(line(name, path), "RoCE v2") == 0);
        snprintf(path, sizeof path, "ports/1/gid_attrs/ndevs/%d", i);
        EXPECT(strlen(line(name, path)) > 0);
    }
}

static void every_function_leads_there(const char *name) {
    char path[PATH_MAX], found[PATH_MAX], wanted[PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, CLASS "/%s/node_type", name);
    FILE *file = fopen(path, "r");
    EXPECT(file && fgets(text, sizeof text, file) && strcmp(text, "1: CA\n") == 0);
    if (file) {
        fclose(file);
    }
    EXPECT(lstat(path, &status) == 0 && S_ISREG(status.st_mode));
    EXPECT(fstatat(AT_FDCWD, path, &status, 0) == 0);
    EXPECT(faccessat(AT_FDCWD, path, R_OK, 0) == 0);
    EXPECT(open(path, O_WRONLY) < 0 || geteuid() == 0);

    snprintf(wanted, sizeof wanted, CLASS "/%s", name);
    EXPECT(realpath(wanted, found) && strcmp(found, wanted) == 0);

    struct dirent **entries = NULL;
    EXPECT(scandir(CLASS, &entries, NULL, alphasort) > 2);

    glob_t globbed;
    EXPECT(glob(CLASS "/*/node_type", 0, NULL, &globbed) == 0 && globbed.gl_pathc > 0
        && strncmp(globbed.gl_pathv[0], CLASS "/", sizeof CLASS) == 0);
    globfree(&globbed);

    EXPECT(lists(CLASS, name));
    EXPECT_ERRNO(ENOENT, open(CLASS "/none/node_type", O_RDONLY) < 0);
    EXPECT_ERRNO(ENOENT, open("/sys/class/infiniband_no_such", O_RDONLY) < 0);
    EXPECT(stat("/sys/class/net/lo", &status) == 0); /* other paths are the system's */
}

int main(void) {
    struct ibv_device **list = ibv_get_device_list(NULL);
    EXPECT(list && list[0]);
    for (int i = 0; list && list[i]; i++) {
        char wanted[PATH_MAX];
        snprintf(wanted, sizeof wanted, CLASS "/%s", list[i]->name);
        EXPECT(strcmp(list[i]->ibdev_path, wanted) == 0);
        snprintf(wanted, sizeof wanted, "uverbs%d", i);
        EXPECT(strcmp(list[i]->dev_name, wanted) == 0);
        snprintf(wanted, sizeof wanted, "/sys/class/infiniband_verbs/uverbs%d", i);
        EXPECT(strcmp(list[i]->dev_path, wanted) == 0);
        EXPECT(lists("/sys/class/infiniband_verbs", list[i]->dev_name));
        EXPECT(is_accessible(list[i]->dev_name));
    }

    const char *name = list[0]->name;
    struct ibv_context *context = open_first();
    struct ibv_device_attr attributes;
    EXPECT(ibv_query_device(context, &attributes) == 0);
    EXPECT(strcmp(line(name, "fw_ver"), attributes.fw_ver) == 0);
    EXPECT(strcmp(line(name, "ports/1/state"), "4: ACTIVE") == 0);
    EXPECT(strcmp(line(name, "ports/1/link_layer"), "Ethernet") == 0);
    EXPECT(strcmp(line(name, "ports/1/pkeys/0"), "0xffff") == 0);
    EXPECT(strlen(line(name, "device/local_cpulist")) > 0);
    gids_are_those_of_the_port(context, name);
    every_function_leads_there(name);
    ibv_close_device(context);
    return failures != 0;
}
