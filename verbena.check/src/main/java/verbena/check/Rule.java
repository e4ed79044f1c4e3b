package verbena.check;

/// The rules, each with what reports and documents say of it. Identifiers never change.
public enum Rule {
    SEND_CHANGED(
            Grade.ERROR,
            "bytes of a request changed before it was complete",
            "ibv_post_send(3): a request's buffers belong to the device until you have polled its completion",
            "the card reads late or again, and sends the new bytes, or half of them",
            "wait for the completion, use another buffer, or send short data inline"),
    SEND_OVERLAP(
            Grade.LUCK,
            "a request sends from bytes that another request fills",
            "ibv_post_send(3), ibv_post_recv(3): both requests own the bytes until they are complete",
            "the card sends the old bytes, the new ones or a mixture",
            "give each request bytes of its own, or wait for the first to complete"),
    READ_UNFENCED(
            Grade.ERROR,
            "a request sends the result of a READ or atomic before it, without a fence",
            "IBTA 10.8.3.3: only a fence orders a SEND or WRITE after a READ or atomic",
            "the card gathers before the result is there, and sends the old bytes",
            "call fenced() on the later request, or wait for the READ to complete"),
    TARGET_SHARED(
            Grade.LUCK,
            "two outstanding requests fill the same bytes",
            "ibv_post_recv(3), ibv_post_send(3): a request owns its target until its completion was taken",
            "one result overwrites the other, in any order and in pieces",
            "give each request a target of its own"),
    TARGET_WRITTEN(
            Grade.ERROR,
            "bytes of a posted receive or of the target of a READ changed before it was complete",
            "ibv_post_recv(3), ibv_post_send(3): a request's buffers belong to the device until you have polled its completion",
            "the program overwrites the arrived bytes, or the card overwrites the program's",
            "write to the buffer before the request is posted, or after its completion was taken"),
    ARENA_CLOSED(
            Grade.ERROR,
            "memory of a region was given back while it was registered",
            "ibv_reg_mr(3): the memory has to stay mapped until ibv_dereg_mr(3)",
            "the card keeps writing to the old pages, which no longer belong to the program",
            "close the region first, then the arena of its memory"),
    REGION_BUSY(
            Grade.LUCK,
            "a region was closed with requests of its own side outstanding",
            "ibv_dereg_mr(3): requests that still name the region fail",
            "if the card is slower, the request ends with LOC_PROT_ERR and the connection is gone",
            "take the completions of all requests that name the region, then close it"),
    REMOTE_BUSY(
            Grade.LUCK,
            "a region was closed while a peer's request for it was outstanding",
            "ibv_dereg_mr(3): the keys of the region no longer give access",
            "if the card is slower, the peer's request ends with REM_ACCESS_ERR and the connection is gone",
            "close the region only after the peer has said that it is done"),
    KEY_CLOSED(
            Grade.ERROR,
            "a request names the key of a region that was closed",
            "ibv_dereg_mr(3): the keys of the region no longer give access",
            "the request ends with REM_ACCESS_ERR or LOC_PROT_ERR, or reaches other memory that has the key now",
            "close a region when no request names it any more, and no peer knows its key"),
    HANDLE_BUSY(
            Grade.LUCK,
            "an address handle was closed with datagrams outstanding that name it",
            "RDMAmojo on ibv_destroy_ah(): wait until all requests that name the handle are complete",
            "where handles are objects of the card, the datagrams end with an error or go elsewhere",
            "take the completions of all requests that name the handle, then close it"),
    UD_SHORT(
            Grade.ERROR,
            "a receive for datagrams has no room for the 40 bytes in front of each",
            "IBTA 11.4.1.2: the first 40 bytes of a UD receive are the GRH's",
            "every datagram ends with LOC_LEN_ERR or is dropped",
            "add 40 bytes to each receive, and read the data after them"),
    NO_RECEIVE(
            Grade.LUCK,
            "a message was posted although the peer has no receive, and RNR retries are limited, or there are none",
            "IBTA 9.7.5.2.8: the peer answers with an RNR NAK; after the attempts the request ends with RNR_RETRY_EXC_ERR",
            "the connection ends when the peer is slower than the attempts last; an unreliable one loses the message",
            "post receives before the peer may send, and count credits"),
    RNR_WAIT(
            Grade.COST,
            "a message was posted for which the peer has no receive",
            "IBTA 9.7.5.2.8: the peer answers with an RNR NAK, and the sender waits",
            "each RNR NAK stops the connection for the whole RNR timer",
            "post receives before the peer may send, and count credits"),
    RECEIVE_SHORT(
            Grade.ERROR,
            "a message is longer than the receive that it meets",
            "IBTA 9.7.5.2.4, ibv_post_recv(3): messages take receives in the order of posting, and have to fit",
            "the sender's request ends with REM_INV_REQ_ERR, the receive with LOC_LEN_ERR, and the connection is gone",
            "post receives as long as the longest message, or send what is longer by WRITE"),
    SRQ_UNARMED(
            Grade.LUCK,
            "a message was posted for a shared queue that is empty and has no limit armed",
            "ibv_modify_srq(3): IBV_SRQ_LIMIT raises an event before the queue is empty",
            "one peer that sends much uses up the receives of all peers, and the others wait or fail",
            "arm the limit, and post receives when its event comes"),
    QUEUE_SMALL(
            Grade.LUCK,
            "more requests may complete than their completion queue holds",
            "ibv_create_cq(3), IBTA 11.6.3.2: a completion queue that overflows is broken",
            "the queue goes to error, and so do all queue pairs that use it",
            "make the queue as large as all requests that can be outstanding on it"),
    QUEUE_STUCK(
            Grade.ERROR,
            "the send queue is full of requests that ask for no completion",
            "ibv_post_send(3): a request without a completion leaves the queue when a later one's completion was taken",
            "the queue accepts no more requests",
            "ask for a completion at least once in a queue's length, and take it"),
    ARM_LOST(
            Grade.LUCK,
            "a thread waits for a notification that may never come",
            "ibv_req_notify_cq(3): each call asks for one notification, and what completed before causes none",
            "if the completion has come already, the thread sleeps forever",
            "call arm() again for each event, poll until the queue is empty, then wait"),
    STATUS_IGNORED(
            Grade.ERROR,
            "a request was posted on a queue pair whose failure this thread has seen",
            "IBTA 10.3.1: a queue pair that failed is in state ERR and flushes all requests",
            "the request is never carried out",
            "look at the status of each completion, and end the connection at a failure"),
    PEER_UNREADY(
            Grade.LUCK,
            "a request was posted before the peer's queue pair was ready to receive",
            "IBTA 10.3.1, 9.7.5: a queue pair takes packets from RTR on, and drops what comes before",
            "the request is sent again after each timeout, and fails when the peer is slower than all attempts",
            "let both ends say that they are in RTR before either posts"),
    PEER_OTHER(
            Grade.ERROR,
            "a request is for a queue pair that is connected with another, or is of another type",
            "IBTA 9.6.1.1: packets name the queue pair that they are for, and only its peer has the right PSNs",
            "the request ends with RETRY_EXC_ERR, or the other connection takes its packets for its own",
            "exchange numbers and addresses for each connection by itself, and create both ends with one type"),
    READ_DEPTH(
            Grade.ERROR,
            "a READ or atomic was posted beyond the depth that the two ends agree on",
            "ibv_modify_qp(3): max_rd_atomic is at most the peer's max_dest_rd_atomic",
            "the peer answers with a NAK, and the connection ends with REM_INV_REQ_ERR",
            "set max_rd_atomic to what the peer serves, and to at least 1"),
    PSN_MISMATCH(
            Grade.ERROR,
            "the two ends of a connection do not agree on the first packet sequence number",
            "IBTA 9.7.2: rq_psn is the sq_psn of the peer",
            "the peer mistakes packets for old or later ones, and the request ends with RETRY_EXC_ERR",
            "give rq_psn what the peer gives to sq_psn"),
    MTU_MISMATCH(
            Grade.ERROR,
            "the two ends of a connection have different path MTUs",
            "ibv_modify_qp(3): path_mtu is that of the path, the same at both ends",
            "messages longer than the smaller MTU end with an error",
            "exchange the MTUs and take the smaller on both ends"),
    TIMEOUT_NEVER(
            Grade.LUCK,
            "a connection waits forever for the acknowledgement of a lost packet",
            "ibv_modify_qp(3): timeout 0 is no time limit",
            "one lost packet hangs the connection without an error",
            "set the timeout, for example 14 (67 ms)"),
    RETRY_ZERO(
            Grade.LUCK,
            "a connection ends at the first lost packet",
            "ibv_modify_qp(3): retry_cnt is the number of attempts after the first",
            "each loss of a packet, also by congestion, ends the connection",
            "set retry_cnt to 7"),
    PRIVATE_LONG(
            Grade.LUCK,
            "an end sends more private data than InfiniBand and RoCE carry",
            "rdma_connect(3), rdma_accept(3), rdma_reject(3): 56, 196 and 148 bytes; for datagrams 180 and 136",
            "the call fails with EINVAL on all cards but those for iWARP",
            "send what is longer as a message of the new connection"),
    CLOSE_BUSY(
            Grade.LUCK,
            "a queue pair was closed with requests outstanding",
            "ibv_destroy_qp(3): outstanding requests are discarded",
            "the last messages may never have left",
            "take the completions of all requests first, or move to ERR and take the flushed ones"),
    RESET_BUSY(
            Grade.LUCK,
            "a queue pair was reset with requests outstanding",
            "IBTA 10.3.1: entering RESET discards requests without completions",
            "the program never learns which requests were carried out",
            "move to ERR and take all completions before RESET"),
    ATOMIC_MIXED(
            Grade.LUCK,
            "a WRITE and an atomic for the same bytes are outstanding at once",
            "IBTA 9.4.5: an atomic is atomic with regard to atomics only",
            "the WRITE is lost between the read and the write of the atomic",
            "change words that atomics change by atomics only"),
    ATOMIC_DEVICES(
            Grade.LUCK,
            "atomics through two devices are outstanding for the same bytes at once",
            "ibv_query_device(3): with IBV_ATOMIC_HCA an atomic is atomic with regard to those of its device only",
            "one of the two changes is lost, because each card reads and writes the word by itself",
            "let all atomics of a word go through one device"),
    ATOMIC_UNALIGNED(
            Grade.ERROR,
            "an atomic names an address that is not aligned to 8 bytes",
            "IBTA 9.4.5, ibv_post_send(3): atomics work on aligned words of 8 bytes",
            "the request ends with REM_INV_REQ_ERR and the connection is gone",
            "align the word to 8 bytes"),
    KEY_INVALID(
            Grade.ERROR,
            "a request names a key that was invalidated",
            "ibv_post_send(3), IBTA 10.6.5: an invalidated key gives access no more",
            "the request ends with REM_ACCESS_ERR and the connection is gone",
            "bind the window again, and tell the peer its new key"),
    NO_ACCESS(
            Grade.ERROR,
            "a request names memory that its peer does not allow it to access in this way",
            "ibv_reg_mr(3), ibv_modify_qp(3): region and queue pair both have to allow it, and all bytes are the region's",
            "the request ends with REM_ACCESS_ERR and the connection is gone",
            "register with the right, give it to the queue pair too, and stay within the length that the peer has announced"),
    QKEY_MISMATCH(
            Grade.ERROR,
            "a datagram has another Q_Key than the queue pair that it is for",
            "IBTA 10.2.5, 9.6.1.5: a datagram with a wrong Q_Key is dropped without an answer",
            "the datagram never arrives, and its request completes with success",
            "tell the sender number and Q_Key together"),
    RACE_WRITE(
            Grade.LUCK,
            "two queue pairs write to the same bytes with no order",
            "IBTA 9.5: only requests of one queue pair have an order",
            "either of the two comes last, or each of them in a part of the bytes",
            "wait for the completion of the first, and let a message tell the other side"),
    RACE_READ(
            Grade.LUCK,
            "a READ takes bytes that another queue pair writes, with no order",
            "IBTA 9.5: only requests of one queue pair have an order; a READ is no snapshot",
            "the READ returns old bytes in one place and new ones in another",
            "read after a message has announced the bytes, or read a version before and after them"),
    RACE_UNFENCED(
            Grade.LUCK,
            "a WRITE without a fence changes bytes that an earlier READ of its queue pair may still read",
            "IBTA 10.8.3.3: only a fence orders a SEND or WRITE after a READ",
            "the READ is answered late or again, and returns the new bytes",
            "call fenced() on the WRITE, or wait for the READ to complete"),
    RACE_LOCAL(
            Grade.LUCK,
            "a peer accesses bytes that a request of their owner sends or fills",
            "ibv_post_send(3): a request's buffers belong to the device until you have polled its completion",
            "the owner sends, or the peer reads, old bytes, new ones or a mixture",
            "let a message tell the peer that the request is complete, or give each its own bytes"),
    RACE_ANNOUNCED(
            Grade.LUCK,
            "the program uses bytes that one queue pair writes, because a message on another queue pair announced them",
            "IBTA 9.5: a receive completes after the WRITEs of its own queue pair, never those of another",
            "the announcement overtakes the bytes",
            "send the announcement on the queue pair of the WRITE, or when the WRITE has completed"),
    RACE_PROCESSOR(
            Grade.LUCK,
            "the program loads or stores bytes that a request accesses, with no order",
            "IBTA 9.5, ibv_post_send(3): a processor sees what a request did when its completion, or that of a message after it, was taken",
            "the program sees old bytes, new ones or a mixture, or overwrites bytes that have just arrived",
            "use the bytes after taking the receive of a message that follows the WRITE"),
    ONE_BY_ONE(
            Grade.COST,
            "requests were posted one by one, with a doorbell each",
            "ibv_wr_start(3), ibv_post_send(3): one call takes a list of requests",
            "each doorbell is a write across PCIe, which costs about as much as the rest of the post",
            "fill one batch and submit it once"),
    ALL_SIGNALED(
            Grade.COST,
            "each of many requests in a row asked for a completion",
            "ibv_post_send(3): IBV_SEND_SIGNALED can be chosen for each request",
            "each completion is a write of the card and a poll of the program",
            "ask for the completion of the last request only"),
    NOT_INLINE(
            Grade.COST,
            "short data were sent from registered memory although they fit into the request",
            "ibv_post_send(3): IBV_SEND_INLINE",
            "the card fetches them by one more read across PCIe",
            "call inline() for data up to maxInlineBytes"),
    UNALIGNED(
            Grade.COST,
            "large transfers do not begin at a cache line",
            "ibv_reg_mr(3) allows any address",
            "each transfer takes one more line across PCIe, and parts of lines cost a read before the write",
            "begin buffers at multiples of 64 bytes"),
    RIGHT_UNUSED(
            Grade.COST,
            "a region gives peers rights that no peer has used",
            "ibv_reg_mr(3): remote rights can be chosen for each region",
            "anyone who learns the key, by accident or on purpose, can change the memory",
            "register memory that peers do not use with local rights only"),
    REGISTER_HOT(
            Grade.COST,
            "memory is registered again and again between requests",
            "ibv_reg_mr(3)",
            "pinning and mapping take microseconds to milliseconds each time",
            "register once, and cut buffers from one region"),
    SMALL_REGIONS(
            Grade.COST,
            "a program has very many small regions",
            "ibv_reg_mr(3)",
            "each region has an entry in the card's tables, and caches are small",
            "register one large region, or use allocate(), and cut it"),
    PAIRS_MANY(
            Grade.COST,
            "a device has more connected queue pairs than most cards hold in their caches",
            "card.md: a ConnectX-4 holds the contexts of some 600, estimated from published measurements",
            "a request whose queue pair is not in the cache waits until the card has fetched it across PCIe",
            "share connections between threads, or use XRC, UD or DC"),
    POLL_IDLE(
            Grade.COST,
            "a thread polls for long although completions are rare",
            "ibv_req_notify_cq(3): a channel wakes the thread when there is a completion",
            "the thread burns a whole core to learn that nothing has arrived",
            "after some empty polls, arm the queue, poll once more, and wait on its channel"),
    QUEUE_EACH(
            Grade.COST,
            "one thread polls many completion queues, each of one queue pair",
            "ibv_create_qp(3): queue pairs may share a completion queue; wc.qp_num says whose a completion is",
            "each empty poll loads a cache line, and the card's writes are spread over all queues",
            "give the queue pairs of a thread one completion queue"),
    LEAK(
            Grade.COST,
            "an object is open at the end of the process",
            "ibv_close_device(3)",
            "the kernel frees it, and the peer is not notified",
            "close objects in the reverse order of creation, by try-with-resources");

    private final Grade grade;
    private final String sentence;
    private final String clause;
    private final String card;
    private final String cure;

    Rule(Grade grade, String sentence, String clause, String card, String cure) {
        this.grade = grade;
        this.sentence = sentence;
        this.clause = clause;
        this.card = card;
        this.cure = cure;
    }

    /// Returns the identifier, for example `V-SEND-CHANGED`.
    public String id() {
        return "V-" + name().replace('_', '-');
    }

    /// Returns the rule of an identifier.
    ///
    /// @throws IllegalArgumentException when there is none
    public static Rule of(String id) {
        for (Rule each : values()) {
            if (each.id().equals(id)) {
                return each;
            }
        }
        throw new IllegalArgumentException("rule: there is no \"" + id + "\"");
    }

    public Grade grade() {
        return grade;
    }

    /// Returns what the program has done, in words.
    public String sentence() {
        return sentence;
    }

    /// Returns what the standard or the man page says.
    public String clause() {
        return clause;
    }

    /// Returns what happens on a card.
    public String card() {
        return card;
    }

    /// Returns how to mend it.
    public String cure() {
        return cure;
    }
}
