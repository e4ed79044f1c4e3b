/* Writes to a disk over iSCSI, reads it back, and checks every byte: an initiator of libiscsi. iscsi URL NAME */
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 512
#define LARGEST (256 << 10)

static struct iscsi_context *iscsi;
static int failures;

static void fill(unsigned char *into, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++) {
        into[i] = (unsigned char) (i * 31 + i / 4099 + bytes);
    }
}

static void expect_good(struct scsi_task *task, const char *what, uint32_t bytes) {
    if (!task || task->status != SCSI_STATUS_GOOD) {
        printf("%s of %u bytes: %s\n", what, bytes, iscsi_get_error(iscsi));
        failures++;
    }
}

static void there_and_back(int disk, uint64_t block, uint32_t bytes) {
    static unsigned char data[LARGEST];
    fill(data, bytes);
    struct scsi_task *written = iscsi_write16_sync(iscsi, disk, block, data, bytes, BLOCK, 0, 0, 0, 0, 0);
    expect_good(written, "write", bytes);
    struct scsi_task *read = iscsi_read16_sync(iscsi, disk, block, bytes, BLOCK, 0, 0, 0, 0, 0);
    expect_good(read, "read", bytes);
    if (read && ((uint32_t) read->datain.size != bytes || memcmp(read->datain.data, data, bytes) != 0)) {
        printf("%u bytes are not read as they were written\n", bytes);
        failures++;
    }
    scsi_free_scsi_task(written);
    scsi_free_scsi_task(read);
}

int main(int argc, char **argv) {
    if (argc != 3 || !(iscsi = iscsi_create_context(argv[2]))) {
        return 2;
    }
    struct iscsi_url *url = iscsi_parse_full_url(iscsi, argv[1]);
    if (!url) {
        puts(iscsi_get_error(iscsi));
        return 2;
    }
    iscsi_set_targetname(iscsi, url->target);
    iscsi_set_session_type(iscsi, ISCSI_SESSION_NORMAL);
    iscsi_set_header_digest(iscsi, ISCSI_HEADER_DIGEST_NONE);
    if (iscsi_full_connect_sync(iscsi, url->portal, url->lun) != 0) {
        puts(iscsi_get_error(iscsi));
        return 1;
    }
    for (uint32_t bytes = BLOCK; bytes <= LARGEST; bytes *= 2) {
        there_and_back(url->lun, bytes / BLOCK, bytes); /* from its size on: they overlap by nothing */
    }
    iscsi_logout_sync(iscsi);
    printf("iscsi: %s\n", failures ? "failed" : "done");
    iscsi_destroy_url(url);
    iscsi_destroy_context(iscsi);
    return failures != 0;
}
