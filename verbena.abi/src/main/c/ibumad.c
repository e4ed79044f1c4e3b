/* The functions of libibumad.so.3, as rdma-core 44 has them, over the soft fabric of this user. The fabric's process is what the
 * kernel is to the library of others: it has the agents, the transactions and the long messages. So this library needs no JVM.
 * The socket of an open port is the port's descriptor, and a message of it is a datagram behind `struct umad_packet`. What is asked
 * of the fabric goes over connections of its own (FabricSocket.java has the layouts). Any thread may call any function. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define NAME_BYTES 20
#define CA_PORTS 10
#define AGENTS 32
#define PKEYS 128
#define DEVICES_MAX 32
#define NO_LIMIT (-1)

/* ---- structs of infiniband/umad.h */

struct umad_address {
    uint32_t qpn, qkey; /* of the network's byte order, as all of them but the P_Key's index */
    uint16_t lid;
    uint8_t sl, path_bits, grh_present, gid_index, hop_limit, traffic_class, gid[16];
    uint32_t flow_label;
    uint16_t pkey_index;
    uint8_t reserved[6];
};

struct umad_packet {
    uint32_t agent_id, status, timeout_ms, retries, length;
    struct umad_address addr;
    uint8_t data[];
};
_Static_assert(sizeof(struct umad_packet) == 64, "the layout of programs");

struct umad_port {
    char ca_name[NAME_BYTES];
    int portnum;
    unsigned base_lid, lmc, sm_lid, sm_sl, state, phys_state, rate;
    uint32_t capmask;
    uint64_t gid_prefix, port_guid;
    unsigned pkeys_size;
    uint16_t *pkeys;
    char link_layer[NAME_BYTES];
};

struct umad_ca {
    char ca_name[NAME_BYTES];
    unsigned node_type;
    int numports;
    char fw_ver[20], ca_type[40], hw_ver[20];
    uint64_t node_guid, system_guid;
    struct umad_port *ports[CA_PORTS];
};

struct umad_device {
    struct umad_device *next;
    const char *ca_name;
};

struct umad_reg_attr {
    uint8_t mgmt_class, mgmt_class_version;
    uint32_t flags;
    uint64_t method_mask[2];
    uint32_t oui;
    uint8_t rmpp_version;
};

#define UMAD_USER_RMPP 1

/* ---- the fabric */

enum { CONTROL = 0x0F, QUERY = 2, OPEN_PORT = 9, REGISTER = 11, UNREGISTER = 12 };
enum { NO_SUCH = 1 };

struct ask {
    uint8_t control, kind;
    uint16_t number;
} __attribute__((packed));

struct answer {
    uint8_t control, kind, status, reserved[5];
    uint64_t token;
} __attribute__((packed));

struct agent_ask {
    uint8_t control, kind;
    uint16_t number;
    uint32_t agent;
    uint64_t token;
    uint8_t mgmt_class, version, rmpp, reserved;
    uint32_t oui;
    uint64_t methods[2];
} __attribute__((packed));
_Static_assert(sizeof(struct agent_ask) == 40, "the layout of the fabric");

struct info {
    uint8_t control, kind, status, reserved;
    uint32_t reregistrations;
    uint64_t node_guid, port_guid;
    uint8_t port[64]; /* the attribute PortInfo */
    uint16_t pkeys[PKEYS];
} __attribute__((packed));

/* Of PortInfo (IBTA 14.2.5.6). */
enum { PREFIX = 8, LID = 16, SM_LID = 18, CAPABILITIES = 20, WIDTH = 31, STATE = 32, PHYSICAL = 33, LMC = 34, SPEED = 35, SM_SL = 36,
    EXTENDED_SPEED = 62 };
enum { PORT_DOWN = 1, PORT_ACTIVE = 4 };

static unsigned u16(const uint8_t *at) {
    return at[0] << 8 | at[1];
}

/* Where the fabric of this user listens. 0, or -1: the path is too long. */
static int place(struct sockaddr_un *at) {
    const char *said = getenv("VERBENA_FABRIC"), *runtime = getenv("XDG_RUNTIME_DIR");
    int n;
    memset(at, 0, sizeof *at);
    at->sun_family = AF_UNIX;
    if (said && *said) {
        n = snprintf(at->sun_path, sizeof at->sun_path, "%s", said);
    } else if (runtime && *runtime) {
        n = snprintf(at->sun_path, sizeof at->sun_path, "%s/verbena/fabric", runtime);
    } else {
        n = snprintf(at->sun_path, sizeof at->sun_path, "/tmp/verbena-%u/fabric", (unsigned) geteuid());
    }
    return n < (int) sizeof at->sun_path ? 0 : -1;
}

/* A descriptor, or -1. Another user's process is not talked to. */
static int connect_to_fabric(void) {
    struct sockaddr_un at;
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    int room = 1 << 18, fd = place(&at) ? -1 : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    if (connect(fd, (struct sockaddr *) &at, sizeof at) != 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0
        || peer.uid != geteuid()) {
        close(fd);
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    return fd;
}

/* Asks over a connection; the number of bytes of the answer, or -1. */
static ssize_t ask(int fd, const void *question, size_t bytes, void *answer, size_t room) {
    ssize_t n;
    do {
        n = send(fd, question, bytes, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t) bytes) {
        return -1;
    }
    do {
        n = recv(fd, answer, room, 0);
    } while (n < 0 && errno == EINTR);
    return n;
}

/* What the fabric says of adapters from number `first` on, `max` at most; how many there are. */
static int query(int first, struct info *infos, int max) {
    int n = 0, fd = connect_to_fabric();
    if (fd < 0) {
        return 0;
    }
    for (; n < max; n++) {
        struct ask question = {CONTROL, QUERY, htons(first + n)};
        ssize_t bytes = ask(fd, &question, sizeof question, &infos[n], sizeof infos[n]);
        if (bytes != (ssize_t) sizeof infos[n] || infos[n].status == NO_SUCH) {
            break;
        }
    }
    close(fd);
    return n;
}

/* The number of the adapter of this name, or -1. Without a name the first whose port is active, else that has a link, else the first. */
static int adapter(const char *name) {
    struct info infos[DEVICES_MAX];
    int number, end = 0, n, best = -1, best_state = 0;
    if (name && *name) {
        return sscanf(name, "ib%d%n", &number, &end) == 1 && name[end] == 0 && query(number, infos, 1) == 1 ? number : -1;
    }
    n = query(0, infos, DEVICES_MAX);
    for (int i = 0; i < n; i++) {
        int state = infos[i].port[STATE] & 0xF;
        int rank = state == PORT_ACTIVE ? 3 : state > PORT_DOWN ? 2 : 1;
        if (rank > best_state) {
            best = i;
            best_state = rank;
        }
    }
    return best;
}

/* ---- devices */

EXPORT int umad_init(void) {
    return 0;
}

EXPORT int umad_done(void) {
    return 0;
}

EXPORT int umad_get_cas_names(char cas[][NAME_BYTES], int max) {
    struct info infos[DEVICES_MAX];
    int n = query(0, infos, max < DEVICES_MAX ? max : DEVICES_MAX);
    for (int i = 0; i < n; i++) {
        snprintf(cas[i], NAME_BYTES, "ib%d", i);
    }
    return n;
}

static unsigned rate(const uint8_t *port) {
    unsigned width = port[WIDTH], lanes = width == 8 ? 12 : width == 4 ? 8 : width == 2 ? 4 : 1;
    unsigned extended = port[EXTENDED_SPEED] >> 4, speed = port[SPEED] >> 4;
    return extended == 2 ? lanes * 25 : extended == 1 ? lanes * 14 : lanes * speed * 5 / 2;
}

static int fill_port(struct umad_port *port, int number, const struct info *info) {
    const uint8_t *said = info->port;
    memset(port, 0, sizeof *port);
    snprintf(port->ca_name, NAME_BYTES, "ib%d", number);
    port->portnum = 1;
    port->base_lid = u16(said + LID);
    port->lmc = said[LMC] & 7;
    port->sm_lid = u16(said + SM_LID);
    port->sm_sl = said[SM_SL] & 0xF;
    port->state = said[STATE] & 0xF;
    port->phys_state = said[PHYSICAL] >> 4;
    port->rate = rate(said);
    memcpy(&port->capmask, said + CAPABILITIES, sizeof port->capmask);
    memcpy(&port->gid_prefix, said + PREFIX, sizeof port->gid_prefix);
    port->port_guid = info->port_guid;
    strcpy(port->link_layer, "InfiniBand");
    port->pkeys = calloc(PKEYS, sizeof *port->pkeys);
    if (!port->pkeys) {
        return -ENOMEM;
    }
    port->pkeys_size = PKEYS;
    for (int i = 0; i < PKEYS; i++) {
        port->pkeys[i] = ntohs(info->pkeys[i]);
    }
    return 0;
}

EXPORT int umad_release_port(struct umad_port *port) {
    if (!port) {
        return -EINVAL;
    }
    free(port->pkeys);
    port->pkeys = NULL;
    port->pkeys_size = 0;
    return 0;
}

EXPORT int umad_get_port(const char *ca_name, int portnum, struct umad_port *port) {
    struct info info;
    int number = adapter(ca_name);
    if (number < 0 || portnum < 0 || portnum > 1) {
        return -ENODEV;
    }
    return query(number, &info, 1) == 1 ? fill_port(port, number, &info) : -ENODEV;
}

EXPORT int umad_release_ca(struct umad_ca *ca) {
    if (!ca) {
        return -EINVAL;
    }
    for (int i = 0; i < CA_PORTS; i++) {
        if (ca->ports[i]) {
            umad_release_port(ca->ports[i]);
            free(ca->ports[i]);
            ca->ports[i] = NULL;
        }
    }
    return 0;
}

EXPORT int umad_get_ca(const char *ca_name, struct umad_ca *ca) {
    struct info info;
    int number = adapter(ca_name);
    if (number < 0 || query(number, &info, 1) != 1) {
        return -ENODEV;
    }
    memset(ca, 0, sizeof *ca);
    snprintf(ca->ca_name, NAME_BYTES, "ib%d", number);
    ca->node_type = 1;
    ca->numports = 1;
    strcpy(ca->ca_type, "Verbena");
    strcpy(ca->hw_ver, "0");
    ca->node_guid = ca->system_guid = info.node_guid;
    ca->ports[1] = calloc(1, sizeof *ca->ports[1]);
    if (!ca->ports[1] || fill_port(ca->ports[1], number, &info)) {
        umad_release_ca(ca);
        return -ENOMEM;
    }
    return 0;
}

/* Entry 0 is of port 0, which no adapter has. */
EXPORT int umad_get_ca_portguids(const char *ca_name, uint64_t *portguids, int max) {
    struct info info;
    int number = adapter(ca_name);
    if (number < 0 || query(number, &info, 1) != 1) {
        return -ENODEV;
    }
    if (max < 2) {
        return -ENOMEM;
    }
    portguids[0] = 0;
    portguids[1] = info.port_guid;
    return 2;
}

/* The fabric tells others of a subnet manager as soon as it has its agents, so opening this file does nothing. */
EXPORT int umad_get_issm_path(const char *ca_name, int portnum, char path[], int max) {
    if (adapter(ca_name) < 0 || portnum < 0 || portnum > 1) {
        return -EINVAL;
    }
    return snprintf(path, max, "/dev/null") < max ? 0 : -EINVAL;
}

EXPORT void umad_free_ca_device_list(struct umad_device *head) {
    while (head) {
        struct umad_device *next = head->next;
        free((char *) head->ca_name);
        free(head);
        head = next;
    }
}

EXPORT struct umad_device *umad_get_ca_device_list(void) {
    struct umad_device *head = NULL, **last = &head;
    char names[DEVICES_MAX][NAME_BYTES];
    int n = umad_get_cas_names(names, DEVICES_MAX);
    errno = 0;
    for (int i = 0; i < n; i++) {
        struct umad_device *made = calloc(1, sizeof *made);
        char *name = strdup(names[i]);
        if (!made || !name) {
            free(made);
            free(name);
            umad_free_ca_device_list(head);
            errno = ENOMEM;
            return NULL;
        }
        made->ca_name = name;
        *last = made;
        last = &made->next;
    }
    return head;
}

static int by_name(const void *a, const void *b) {
    const struct umad_device *const *one = a, *const *other = b;
    return strcmp((*one)->ca_name, (*other)->ca_name);
}

EXPORT int umad_sort_ca_device_list(struct umad_device **head, size_t size) {
    size_t n = 0;
    if (!head) {
        return EINVAL;
    }
    for (struct umad_device *one = *head; one; one = one->next) {
        n++;
    }
    n = size && size < n ? size : n;
    if (n < 2) {
        return 0;
    }
    struct umad_device **all = calloc(n, sizeof *all), *rest = *head;
    if (!all) {
        return ENOMEM;
    }
    for (size_t i = 0; i < n; i++, rest = rest->next) {
        all[i] = rest;
    }
    qsort(all, n, sizeof *all, by_name);
    for (size_t i = 0; i < n; i++) {
        all[i]->next = i + 1 < n ? all[i + 1] : rest;
    }
    *head = all[0];
    free(all);
    return 0;
}

/* ---- ports */

struct open_port {
    struct open_port *next;
    int fd;
    uint64_t token;
    uint32_t agents; /* a bit for each number in use */
};

static struct open_port *open_ports;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list and what is in it */

EXPORT int umad_open_port(const char *ca_name, int portnum) {
    struct answer opened;
    int number = portnum >= 0 && portnum <= 1 ? adapter(ca_name) : -1, fd;
    if (number < 0) {
        return -ENODEV;
    }
    fd = connect_to_fabric();
    if (fd < 0) {
        return -EIO;
    }
    struct ask question = {CONTROL, OPEN_PORT, htons(number)};
    struct open_port *made = calloc(1, sizeof *made);
    if (!made || ask(fd, &question, sizeof question, &opened, sizeof opened) != sizeof opened || opened.status) {
        free(made);
        close(fd);
        return made ? -EIO : -ENOMEM;
    }
    made->fd = fd;
    made->token = opened.token;
    pthread_mutex_lock(&lock);
    made->next = open_ports;
    open_ports = made;
    pthread_mutex_unlock(&lock);
    return fd;
}

/* With the lock held. */
static struct open_port *find(int fd) {
    struct open_port *one = open_ports;
    while (one && one->fd != fd) {
        one = one->next;
    }
    return one;
}

EXPORT int umad_close_port(int fd) {
    pthread_mutex_lock(&lock);
    struct open_port **at = &open_ports;
    while (*at && (*at)->fd != fd) {
        at = &(*at)->next;
    }
    struct open_port *found = *at;
    if (found) {
        *at = found->next;
        close(fd);
    }
    pthread_mutex_unlock(&lock);
    free(found);
    return found ? 0 : -EINVAL;
}

EXPORT int umad_get_fd(int fd) {
    return fd;
}

/* ---- agents */

/* Over a connection of its own, so that no datagram comes between; 0 or an errno. */
static int tell_of_agent(struct agent_ask *question) {
    struct answer said;
    int fd = connect_to_fabric(), status = EIO;
    if (fd >= 0) {
        if (ask(fd, question, sizeof *question, &said, sizeof said) == sizeof said) {
            status = said.status;
        }
        close(fd);
    }
    return status;
}

EXPORT int umad_register2(int fd, struct umad_reg_attr *attr, uint32_t *agent_id) {
    int status = ENODEV, number = 0;
    if (!attr || !agent_id || (attr->flags & ~UMAD_USER_RMPP) || (attr->oui & 0xFF000000)) {
        return EINVAL;
    }
    pthread_mutex_lock(&lock);
    struct open_port *port = find(fd);
    while (port && number < AGENTS && (port->agents >> number & 1)) {
        number++;
    }
    if (port && number == AGENTS) {
        status = ENOMEM;
    } else if (port) {
        struct agent_ask question = {
            .control = CONTROL, .kind = REGISTER, .agent = htonl(number), .token = port->token, .mgmt_class = attr->mgmt_class,
            .version = attr->mgmt_class_version, .rmpp = attr->rmpp_version && !(attr->flags & UMAD_USER_RMPP),
            .oui = htonl(attr->oui), .methods = {htobe64(attr->method_mask[0]), htobe64(attr->method_mask[1])}};
        status = tell_of_agent(&question);
        if (!status) {
            port->agents |= 1u << number;
            *agent_id = number;
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static int enroll(int fd, int mgmt_class, int version, uint8_t rmpp_version, uint32_t oui, const long *methods) {
    struct umad_reg_attr attr = {.mgmt_class = mgmt_class, .mgmt_class_version = version, .oui = oui, .rmpp_version = rmpp_version};
    uint32_t agent = 0;
    if (methods) {
        memcpy(attr.method_mask, methods, sizeof attr.method_mask);
    }
    int status = umad_register2(fd, &attr, &agent);
    if (status) {
        errno = status;
        return status == EINVAL ? -EINVAL : -EPERM;
    }
    return agent;
}

EXPORT int umad_register(int fd, int mgmt_class, int version, uint8_t rmpp_version, long *methods) {
    return enroll(fd, mgmt_class, version, rmpp_version, 0, methods);
}

EXPORT int umad_register_oui(int fd, int mgmt_class, uint8_t rmpp_version, uint8_t oui[3], long *methods) {
    if (mgmt_class < 0x30 || mgmt_class > 0x4F) {
        return -EINVAL;
    }
    return enroll(fd, mgmt_class, 1, rmpp_version, oui[0] << 16 | oui[1] << 8 | oui[2], methods);
}

EXPORT int umad_unregister(int fd, int agent) {
    int status = EINVAL;
    pthread_mutex_lock(&lock);
    struct open_port *port = find(fd);
    if (port && agent >= 0 && agent < AGENTS && (port->agents >> agent & 1)) {
        struct agent_ask question = {.control = CONTROL, .kind = UNREGISTER, .agent = htonl(agent), .token = port->token};
        status = tell_of_agent(&question);
        port->agents &= ~(1u << agent);
    }
    pthread_mutex_unlock(&lock);
    return -status;
}

/* ---- datagrams */

EXPORT size_t umad_size(void) {
    return sizeof(struct umad_packet);
}

EXPORT void *umad_get_mad(void *umad) {
    return ((struct umad_packet *) umad)->data;
}

EXPORT struct umad_address *umad_get_mad_addr(void *umad) {
    return &((struct umad_packet *) umad)->addr;
}

EXPORT int umad_status(void *umad) {
    return ((struct umad_packet *) umad)->status;
}

EXPORT int umad_set_addr_net(void *umad, uint16_t dlid, uint32_t qpn, int sl, uint32_t qkey) {
    struct umad_address *to = umad_get_mad_addr(umad);
    to->qpn = qpn;
    to->lid = dlid;
    to->qkey = qkey;
    to->sl = sl;
    return 0;
}

EXPORT int umad_set_addr(void *umad, int dlid, int qpn, int sl, int qkey) {
    return umad_set_addr_net(umad, htons(dlid), htonl(qpn), sl, htonl(qkey));
}

EXPORT int umad_set_grh(void *umad, void *address) {
    struct umad_address *to = umad_get_mad_addr(umad), *from = address;
    to->grh_present = from != NULL;
    if (from) {
        memcpy(to->gid, from->gid, sizeof to->gid);
        to->flow_label = htonl(from->flow_label);
        to->hop_limit = from->hop_limit;
        to->traffic_class = from->traffic_class;
    }
    return 0;
}

EXPORT int umad_set_pkey(void *umad, int index) {
    umad_get_mad_addr(umad)->pkey_index = index;
    return 0;
}

EXPORT int umad_get_pkey(void *umad) {
    return umad_get_mad_addr(umad)->pkey_index;
}

EXPORT int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries) {
    struct umad_packet *packet = umad;
    size_t bytes = sizeof *packet + (length < 0 ? 0 : length);
    if (!umad) {
        errno = EINVAL;
        return -EINVAL;
    }
    packet->agent_id = agent;
    packet->timeout_ms = timeout_ms;
    packet->retries = retries;
    ssize_t sent;
    do {
        sent = send(fd, packet, bytes, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent == (ssize_t) bytes) {
        return 0;
    }
    errno = errno ? errno : EIO;
    return -EIO;
}

/* 0: there is a datagram, or the fabric is gone. */
EXPORT int umad_poll(int fd, int timeout_ms) {
    struct pollfd at = {.fd = fd, .events = POLLIN};
    int n = poll(&at, 1, timeout_ms);
    if (n == 1) {
        return 0;
    }
    errno = n == 0 ? ETIMEDOUT : errno;
    return -errno;
}

/* A program that asks again and again does not keep a processor busy when the fabric is gone. */
static int end_of_fabric(int timeout_ms) {
    int nothing = timeout_ms == NO_LIMIT || timeout_ms > 1000 ? 1000 : timeout_ms;
    poll(NULL, 0, nothing);
    errno = EIO;
    return -EIO;
}

EXPORT int umad_recv(int fd, void *umad, int *length, int timeout_ms) {
    struct umad_packet *packet = umad;
    if (!umad || !length || *length < 0) {
        errno = EINVAL;
        return -EINVAL;
    }
    int waited = timeout_ms ? umad_poll(fd, timeout_ms) : 0;
    if (waited < 0) {
        return waited;
    }
    size_t room = sizeof *packet + *length;
    ssize_t n = recv(fd, packet, room, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
    if (n == 0) {
        return end_of_fabric(timeout_ms);
    }
    if (n > (ssize_t) room) { /* it stays for a buffer that is long enough */
        *length = n - sizeof *packet;
        packet->length = n;
        errno = ENOSPC;
        return -ENOSPC;
    }
    n = n < 0 ? n : recv(fd, packet, room, MSG_DONTWAIT);
    if (n < (ssize_t) sizeof *packet) {
        errno = n < 0 ? errno : EIO;
        return -errno;
    }
    *length = n - sizeof *packet;
    return packet->agent_id;
}

/* ---- words */

static int is_verbose;

EXPORT int umad_debug(int level) {
    if (level >= 0) {
        is_verbose = level;
    }
    return is_verbose;
}

EXPORT void umad_addr_dump(struct umad_address *of) {
    char gid[2 * sizeof of->gid + 1];
    for (size_t i = 0; i < sizeof of->gid; i++) {
        sprintf(gid + 2 * i, "%02x", of->gid[i]);
    }
    fprintf(stderr, "lid %u qpn 0x%x qkey 0x%x sl %u path bits %u pkey index %u grh %u gid 0x%s gid index %u hop limit %u traffic class %u"
        " flow label 0x%x\n", ntohs(of->lid), ntohl(of->qpn), ntohl(of->qkey), of->sl, of->path_bits, of->pkey_index,
        of->grh_present, gid, of->gid_index, of->hop_limit, of->traffic_class, ntohl(of->flow_label));
}

EXPORT void umad_dump(void *umad) {
    struct umad_packet *packet = umad;
    fprintf(stderr, "agent %u status %u timeout %u ms\n", packet->agent_id, packet->status, packet->timeout_ms);
    umad_addr_dump(&packet->addr);
}

struct word {
    unsigned number;
    const char *text;
};

static const char *word(const struct word *words, unsigned number, const char *otherwise) {
    for (; words->text; words++) {
        if (words->number == number) {
            return words->text;
        }
    }
    return otherwise;
}

enum { SUBNET_LID = 0x01, SUBNET_DIRECTED = 0x81, ADMINISTRATION = 0x03 };

static const struct word classes[] = {{SUBNET_LID, "Subn"}, {ADMINISTRATION, "SA"}, {0x04, "Perf"}, {0x05, "BM"}, {0x06, "DevMgt"},
    {0x07, "CM"}, {0x08, "SNMP"}, {0x10, "DevAdm"}, {0x11, "BootMgt"}, {0x12, "BIS"}, {0x21, "CongestionMgmt"},
    {SUBNET_DIRECTED, "SubnDirected"}, {0, NULL}};
static const struct word methods[] = {{0x01, "Get"}, {0x02, "Set"}, {0x03, "Send"}, {0x05, "Trap"}, {0x06, "Report"}, {0x07, "TrapRepress"},
    {0x81, "GetResp"}, {0x86, "ReportResp"}, {0, NULL}};
static const struct word administration_methods[] = {{0x12, "GetTable"}, {0x13, "GetTraceTable"}, {0x14, "GetMulti"}, {0x15, "Delete"},
    {0x92, "GetTableResp"}, {0x94, "GetMultiResp"}, {0x95, "DeleteResp"}, {0, NULL}};
static const struct word statuses[] = {{0, "Success"}, {1, "Busy"}, {2, "Redirect"}, {0x04, "Bad version"}, {0x08, "Bad method"},
    {0x0C, "Bad method or attribute"}, {0x1C, "Bad value"}, {0, NULL}};
static const struct word administration_statuses[] = {{0, "Success"}, {1, "No resources"}, {2, "Request invalid"}, {3, "No records"},
    {4, "Too many records"}, {5, "Invalid GID"}, {6, "Insufficient components"}, {7, "Denied"}, {0, NULL}};
static const struct word attributes[] = {{0x01, "ClassPortInfo"}, {0x02, "Notice"}, {0x03, "InformInfo"}, {0, NULL}};
static const struct word subnet_attributes[] = {{0x10, "NodeDescription"}, {0x11, "NodeInfo"}, {0x12, "SwitchInfo"}, {0x14, "GUIDInfo"},
    {0x15, "PortInfo"}, {0x16, "P_KeyTable"}, {0x17, "SLtoVLMappingTable"}, {0x18, "VLArbitrationTable"},
    {0x19, "LinearForwardingTable"}, {0x1A, "RandomForwardingTable"}, {0x1B, "MulticastForwardingTable"}, {0x20, "SMInfo"},
    {0x30, "VendorDiag"}, {0x31, "LedInfo"}, {0, NULL}};
static const struct word administration_attributes[] = {{0x11, "NodeRecord"}, {0x12, "PortInfoRecord"}, {0x13, "SLtoVLMappingTableRecord"},
    {0x14, "SwitchInfoRecord"}, {0x15, "LinearForwardingTableRecord"}, {0x17, "MulticastForwardingTableRecord"}, {0x18, "SMInfoRecord"},
    {0x20, "LinkRecord"}, {0x30, "GuidInfoRecord"}, {0x31, "ServiceRecord"}, {0x33, "P_KeyTableRecord"}, {0x35, "PathRecord"},
    {0x36, "VLArbitrationTableRecord"}, {0x38, "MCMemberRecord"}, {0x39, "TraceRecord"}, {0x3A, "MultiPathRecord"},
    {0x3B, "ServiceAssociationRecord"}, {0xF3, "InformInfoRecord"}, {0, NULL}};

EXPORT const char *umad_class_str(uint8_t mgmt_class) {
    return word(classes, mgmt_class, mgmt_class >= 0x09 && mgmt_class <= 0x4F ? "Vendor" : "<unknown>");
}

EXPORT const char *umad_method_str(uint8_t mgmt_class, uint8_t method) {
    const char *own = mgmt_class == ADMINISTRATION ? word(administration_methods, method, NULL) : NULL;
    return own ? own : word(methods, method, "<unknown>");
}

EXPORT const char *umad_common_mad_status_str(uint16_t status) {
    return word(statuses, ntohs(status) & 0x1F, "<unknown>");
}

EXPORT const char *umad_sa_mad_status_str(uint16_t status) {
    return word(administration_statuses, ntohs(status) >> 8, "<unknown>");
}

EXPORT const char *umad_attribute_str(uint8_t mgmt_class, uint16_t attribute) {
    const struct word *own = mgmt_class == SUBNET_LID || mgmt_class == SUBNET_DIRECTED ? subnet_attributes
        : mgmt_class == ADMINISTRATION                                                  ? administration_attributes
                                                                                        : attributes;
    const char *text = word(own, ntohs(attribute), NULL);
    return text ? text : word(attributes, ntohs(attribute), "<unknown>");
}
