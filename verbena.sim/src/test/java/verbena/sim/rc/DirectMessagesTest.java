package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// Messages that reach the peer's device without packets, and how they mix with requests that need some: when they
/// begin,
/// what is declined and comes again by packets, order, draining and lost answers (decision 19).
class DirectMessagesTest {
    /// Both ends have messages, and each has acknowledged a packet of the other. Both have one receive left.
    private static final String PROVEN = """
            a         messages
            b         messages
            a         post  recv 100  wr 50
            b         post  recv 100  wr 60
            a         post  send 8  wr 1 signaled
            a -> b    SEND_ONLY  psn 100
            b -> a    ACK  psn 100
            a         completion  wr 1 success
            b         completion  wr 60 success
            b         post  send 8  wr 2 signaled
            b -> a    SEND_ONLY  psn 7000
            a -> b    ACK  psn 7000
            b         completion  wr 2 success
            a         completion  wr 50 success
            a         post  recv 100  wr 51
            b         post  recv 100  wr 61
            """;

    private static void run(String script) {
        rc().run(PROVEN + script);
    }

    // ---- how they go

    @Test
    void aMessageIsDeliveredAndAnswered() {
        run("""
                a         post  send 30 from out+100 len 30  wr 3 signaled
                a => b    send  number 100 bytes 30
                b         completion  wr 61 success opcode recv byte-len 30
                b         memory  in+0 len 30 as wr 3
                a         completion  none
                b => a    answer  expects 101
                a         completion  wr 3 success opcode send byte-len 30
                a         counter  direct.messages 1
                a         counter  direct.message.bytes 30
                """);
    }

    @Test
    void aMessageOfThePeerCarriesTheAnswer() {
        run("""
                a         post  send 8  wr 3 signaled
                a => b    send  number 100
                b         completion  wr 61 success
                b         post  send 8  wr 4 signaled
                b => a    send  number 7000 expects 101
                a         completion  wr 3 success
                a         completion  wr 51 success
                a => b    answer  expects 7001
                b         completion  wr 4 success
                """);
    }

    @Test
    void oneAnswerIsForAllThatHaveArrived() {
        run("""
                b         post  recv 100  wr 62
                b         post  recv 100  wr 63
                a         post  send 1  wr 3 signaled
                a         post  send 2  wr 4
                a         post  send 3  wr 5 signaled
                a => b    send  number 100
                a => b    send  number 101
                a => b    send  number 102
                b         completion  wr 61 success byte-len 1
                b         completion  wr 62 success byte-len 2
                b         completion  wr 63 success byte-len 3
                b => a    answer  expects 103
                a         completion  wr 3 success
                a         completion  wr 5 success
                """);
    }

    @Test
    void immediateDataAndSolicitationArrive() {
        run("""
                b         arm  solicited
                a         post  send 8 imm 77 solicited  wr 3 signaled
                a => b    send  number 100 solicited
                b         notified
                b         completion  wr 61 success byte-len 8 imm 77
                b => a    answer  expects 101
                a         completion  wr 3 success
                """);
    }

    @Test
    void inlineDataAndNoDataArrive() {
        run("""
                b         post  recv 100  wr 62
                a         post  send 40 inline  wr 3 signaled
                a         post  send 0  wr 4 signaled
                a => b    send  number 100 bytes 40
                a => b    send  number 101 bytes 0
                b         completion  wr 61 success byte-len 40
                b         completion  wr 62 success byte-len 0
                b         memory  in+0 len 40 as wr 3
                b => a    answer  expects 102
                a         completion  wr 3 success
                a         completion  wr 4 success
                """);
    }

    @Test
    void aWriteWithImmediateIsAMessage() {
        run("""
                a         post  write 100 -> r1+8 imm 5  wr 3 signaled
                a => b    write  number 100 bytes 100
                b         completion  wr 61 success opcode recv-rdma-with-imm byte-len 100 imm 5
                b         memory  r1+8 len 100 as wr 3
                b => a    answer  expects 101
                a         completion  wr 3 success opcode rdma-write
                """);
    }

    @Test
    void aWriteWithImmediateOfNoBytesNeedsNoKey() {
        run("""
                a         post  write 0 -> r1+0 imm 5 rkey 0  wr 3 signaled
                a => b    write  number 100 bytes 0
                b         completion  wr 61 success opcode recv-rdma-with-imm byte-len 0 imm 5
                b => a    answer  expects 101
                a         completion  wr 3 success
                """);
    }

    /// Only the notice is a message. The data is at its place before, by direct access.
    @Test
    void theDataOfALongWriteWithImmediateIsPlaced() {
        rc().run("a  direct\n" + PROVEN + """
                a         post  write 5000 -> r1+8 imm 5  wr 3 signaled
                a => b    write  number 100 bytes 0
                b         shown  WRITE_FIRST psn 101
                b         shown  WRITE_MIDDLE psn 102
                b         shown  WRITE_MIDDLE psn 103
                b         shown  WRITE_MIDDLE psn 104
                b         shown  WRITE_LAST_IMMEDIATE psn 105
                b         completion  wr 61 success opcode recv-rdma-with-imm byte-len 5000 imm 5
                b         memory  r1+8 len 5000 as wr 3
                b => a    answer  expects 101
                a         completion  wr 3 success opcode rdma-write byte-len 5000
                """);
    }

    /// A program at the other end may look at the data only when the completion has told it.
    @Test
    void thatDataMayBeThereBeforeEarlierMessages() {
        rc().run("a  direct\n" + PROVEN + """
                b         post  recv 100  wr 62
                a         post  send 8  wr 3 signaled
                a         post  write 5000 -> r1+0 imm 5  wr 4 signaled
                a => b    send  number 100
                b         memory  r1+0 len 5000 as wr 4
                a => b    write  number 101 bytes 0
                b         completion  wr 61 success
                b         completion  wr 62 success byte-len 5000
                b => a    answer  expects 102
                a         completion  wr 3 success
                a         completion  wr 4 success
                """);
    }

    @Test
    void whatCannotBePlacedAtOnceGoesByPackets() {
        rc().run("a  direct step 1000\n" + PROVEN + """
                a         post  write 5000 -> r1+0 imm 5  wr 3 signaled
                a -> b    WRITE_FIRST  psn 101
                a -> b    WRITE_MIDDLE
                a -> b    WRITE_MIDDLE
                a -> b    WRITE_MIDDLE
                a -> b    WRITE_LAST_IMMEDIATE
                b -> a    ACK  psn 105
                a         completion  wr 3 success
                b         completion  wr 61 success byte-len 5000
                """);
    }

    @Test
    void aPlacedWriteThatIsDeclinedIsWrittenAgainByPackets() {
        rc().run("a  direct\n" + PROVEN + """
                b         messages  closed
                a         post  write 2000 -> r1+0 imm 5  wr 3 signaled
                a         post  write 5000 -> r1+0 imm 5  wr 4 signaled
                b         post  recv 100  wr 62
                a => b    write  number 100 bytes 2000
                a => b    write  number 101 bytes 0
                b => a    decline  expects 100
                a -> b    WRITE_FIRST  psn 101
                a -> b    WRITE_LAST_IMMEDIATE  psn 102
                b         memory  r1+0 len 2000 as wr 3
                b -> a    ACK  psn 102
                a => b    write  number 102 bytes 0
                b => a    decline  expects 102
                a -> b    WRITE_FIRST
                a -> b    WRITE_MIDDLE
                a -> b    WRITE_MIDDLE
                a -> b    WRITE_MIDDLE
                a -> b    WRITE_LAST_IMMEDIATE
                b -> a    ACK
                b         memory  r1+0 len 5000 as wr 4
                a         completion  wr 3 success
                a         completion  wr 4 success
                b         completion  wr 61 success
                b         completion  wr 62 success
                """);
    }

    @Test
    void theThreadThatPostsHandsThemOver() {
        run("""
                b         post  recv 100  wr 62
                a         post  send 8  wr 3 signaled
                a => b    send  number 100
                b => a    answer  expects 101
                a         completion  wr 3 success
                a         post  send 8  wr 4 signaled
                a         at-once  all
                a => b    send  number 101
                b => a    answer  expects 102
                a         completion  wr 4 success
                b         completion  wr 61 success
                b         completion  wr 62 success
                """);
    }

    @Test
    void observersSeeThePacketsThatTheyWouldHaveBeen() {
        run("""
                a         post  send 8 imm 3 from out+0 len 8  wr 3 signaled
                a => b    send  number 100
                b         shown  SEND_ONLY_IMMEDIATE psn 101
                b => a    answer
                a         shown  SEND_ONLY_IMMEDIATE psn 101
                a         completion  wr 3 success
                b         completion  wr 61 success
                """);
    }

    // ---- when they begin

    @Test
    void theFirstMessageOfAConnectionIsAPacket() {
        rc().run("""
                a         messages
                b         messages
                b         post  recv 100
                b         post  recv 100
                a         post  send 8  wr 1 signaled
                a         post  send 8  wr 2 signaled
                a -> b    SEND_ONLY  psn 100
                a -> b    SEND_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 1 success
                a         completion  wr 2 success
                b         completion  success
                b         completion  success
                """);
    }

    @Test
    void aPeerWithoutThemDeclines() {
        run("""
                b         messages  closed
                a         post  send 8  wr 3 signaled
                a => b    send  number 100
                b => a    decline  expects 100
                a -> b    SEND_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 3 success
                b         completion  wr 61 success
                b         counter  direct.declined.messages 1
                """);
    }

    @Test
    void whatIsLongGoesByPackets() {
        run("""
                b         post  recv 5000  wr 62
                b         post  recv 100  wr 63
                a         post  send 8  wr 3 signaled
                a         post  send 4097  wr 4 signaled
                a         post  send 8  wr 5 signaled
                a => b    send  number 100
                a         silent
                b => a    answer  expects 101
                a -> b    SEND_FIRST  psn 101
                a -> b    SEND_MIDDLE
                a -> b    SEND_MIDDLE
                a -> b    SEND_MIDDLE
                a -> b    SEND_LAST
                a -> b    SEND_ONLY
                b -> a    ACK
                a         completion  wr 3 success
                a         completion  wr 4 success
                a         completion  wr 5 success
                b         completion  wr 61 success
                b         completion  wr 62 success
                b         completion  wr 63 success
                """);
    }

    /// A stream that began by packets would stay there, because its queue never becomes empty.
    @Test
    void aStreamByPacketsBecomesMessages() {
        run("""
                b         messages  closed
                """ + "b  post  recv 100\na  post  send 8  wr 5\n".repeat(10) + """
                a => b    send  number 100
                a => b    send  number 101
                """ + "a => b  send\n".repeat(8) + """
                b => a    decline  expects 100
                a -> b    SEND_ONLY  psn 101
                """
                + "a -> b  SEND_ONLY\n".repeat(7) + """
                a         silent
                b -> a    ACK  psn 108
                a => b    send  number 110
                a => b    send  number 111
                b => a    decline  expects 110
                a -> b    SEND_ONLY  psn 109
                a -> b    SEND_ONLY  psn 110
                b -> a    ACK  psn 110
                """ + "b  completion  success\n".repeat(10));
    }

    /// The peer has to see a packet of this connection before it takes messages.
    @Test
    void afterAChangeAPacketComesFirst() {
        run("""
                b         modify RTS
                b         post  recv 100  wr 62
                a         post  send 8  wr 3 signaled
                a => b    send  number 100
                b => a    decline  expects 100
                a -> b    SEND_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 3 success
                a         modify RTS
                a         post  send 8  wr 4 signaled
                a -> b    SEND_ONLY  psn 102
                b -> a    ACK  psn 102
                a         completion  wr 4 success
                b         completion  wr 61 success
                b         completion  wr 62 success
                """);
    }

    // ---- what is declined

    @Test
    void withoutAReceiveItComesAgainByPackets() {
        run("""
                a         post  send 8  wr 3 signaled
                a         post  send 9  wr 4 signaled
                a => b    send  number 100
                a => b    send  number 101
                b         completion  wr 61 success byte-len 8
                b => a    decline  expects 101
                a         completion  wr 3 success
                a -> b    SEND_ONLY  psn 101
                b -> a    RNR  psn 101
                b         post  recv 100  wr 62
                +0.64ms a -> b  SEND_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 4 success
                b         completion  wr 62 success byte-len 9
                """);
    }

    /// What comes behind a message that was declined is dropped, and begins anew: each arrives once, in its order.
    @Test
    void whatIsBehindBeginsAnew() {
        run("""
                a         post  send 1  wr 3 signaled
                a         post  send 2  wr 4 signaled
                a         post  send 3  wr 5 signaled
                a => b    send  number 100
                a => b    send  number 101
                b         post  recv 100  wr 62
                b         post  recv 100  wr 63
                a => b    send  number 102
                b => a    decline  expects 101
                a -> b    SEND_ONLY  psn 101
                a -> b    SEND_ONLY  psn 102
                b -> a    ACK  psn 102
                a         post  send 4  wr 6 signaled
                a => b    send  number 103 first
                b => a    decline  expects 103
                a -> b    SEND_ONLY  psn 103
                b -> a    RNR  psn 103
                b         post  recv 100  wr 64
                +0.64ms a -> b  SEND_ONLY  psn 103
                b -> a    ACK  psn 103
                b         completion  wr 61 success byte-len 1
                b         completion  wr 62 success byte-len 2
                b         completion  wr 63 success byte-len 3
                b         completion  wr 64 success byte-len 4
                a         completion  wr 3 success
                a         completion  wr 4 success
                a         completion  wr 5 success
                a         completion  wr 6 success
                """);
    }

    @Test
    void aMessageThatIsTooLongForItsReceiveIsRefusedByTheResponder() {
        run("""
                a         post  send 101  wr 3 signaled
                a         post  send 8  wr 4 signaled
                a => b    send  number 100
                a => b    send  number 101
                b => a    decline  expects 100
                a -> b    SEND_ONLY  psn 101
                a -> b    SEND_ONLY  psn 102
                b -> a    NAK
                a         completion  wr 3 rem-inv-req-err
                a         completion  wr 4 wr-flush-err
                a         completion  wr 51 wr-flush-err
                b         completion  wr 61 loc-len-err
                """);
    }

    @Test
    void aWriteWithAKeyThatIsRefusedIsRefusedByTheResponder() {
        run("""
                a         post  write 8 -> r1+0 imm 1 rkey 99  wr 3 signaled
                a => b    write  number 100
                b => a    decline  expects 100
                a -> b    WRITE_ONLY_IMMEDIATE  psn 101
                b -> a    NAK
                a         completion  wr 3 rem-access-err
                a         completion  wr 51 wr-flush-err
                b         completion  wr 61 loc-access-err
                b         memory  r1+0 unchanged
                """);
    }

    // ---- peers that do not keep to this

    /// The first key that is not valid ends a connection, and only a packet is refused. A peer that guesses, and
    /// sends none, has one guess.
    @Test
    void afterAWrongKeyNoMessageCanNameAnother() {
        run("""
                peer => b  write number 100 bytes 8 at r1+0 first
                b => a     answer  expects 101
                peer => b  write number 101 bytes 8 rkey 99
                b => a     decline  expects 101
                peer => b  write number 102 bytes 8 at r1+0 first
                b => a     decline  expects 102
                peer => b  send number 103 bytes 8 first
                b          completion  wr 61 success byte-len 8
                b => a     answer  expects 104
                """);
    }

    @Test
    void whatIsNotThePeersOrNotTheNextIsDropped() {
        run("""
                peer => b  send number 100 bytes 8
                peer => b  send number 100 bytes 8 first source-qp 5
                peer => b  query source-qp 5
                peer => b  send number 100 bytes 8 first
                b => a     answer  expects 101
                b          completion  wr 61 success byte-len 8
                peer => b  send number 100 bytes 8
                peer => b  send number 102 bytes 8
                nothing ever
                """);
    }

    @Test
    void anAnswerToNothingMeansNothing() {
        run("""
                peer => a  answer expects 105
                peer => a  decline expects 105
                a          post  send 8  wr 3 signaled
                a => b     send  number 100
                peer => a  answer expects 105
                peer => a  decline expects 105
                peer => a  answer expects 99
                peer => a  decline expects 99
                peer => a  answer expects 101 silent
                peer => a  decline expects 100 silent
                a          completion  none
                b          completion  wr 61 success
                b => a     answer  expects 101
                a          completion  wr 3 success
                """);
    }

    // ---- order

    @Test
    void aShortWriteBehindAMessageIsOne() {
        run("""
                a         direct
                b         post  recv 100  wr 62
                a         post  send 8  wr 3 signaled
                a         post  write 100 -> r1+0  wr 4 signaled
                a         post  send 8  wr 5 signaled
                a => b    send  number 100
                a => b    write  number 101 bytes 100
                b         memory  r1+0 len 100 as wr 4
                a => b    send  number 102
                b => a    answer  expects 103
                a         completion  wr 3 success
                a         completion  wr 4 success opcode rdma-write byte-len 100
                a         completion  wr 5 success
                b         completion  wr 61 success
                b         completion  wr 62 success
                """);
    }

    @Test
    void anythingElseWaitsForTheAnswers() {
        run("""
                a         direct
                b         set  r1+16  word 40
                a         post  send 8  wr 3 signaled
                a         post  fetch-add 2 -> r1+16  wr 4 signaled into in+0 len 8
                a => b    send  number 100
                a         silent
                b         word  r1+16 is 40
                b => a    answer  expects 101
                a         completion  wr 3 success
                a         completion  wr 4 success opcode fetch-add
                b         word  r1+16 is 42
                b         completion  wr 61 success
                """);
    }

    @Test
    void aMessageBehindPacketsIsAPacket() {
        run("""
                a         post  read 8 <- r1+0  wr 3 signaled
                a         post  send 8  wr 4 signaled
                a -> b    READ_REQUEST  psn 101
                a -> b    SEND_ONLY  psn 102
                b -> a    READ_RESPONSE_ONLY  psn 101
                b -> a    ACK  psn 102
                a         completion  wr 3 success
                a         completion  wr 4 success
                b         completion  wr 61 success
                """);
    }

    /// A key may turn out not to be valid only after the data is in its place.
    @Test
    void aSendWithInvalidateIsAPacket() {
        run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 64 access remote-write  wr 9 signaled
                b         completion  wr 9 success
                b         post  recv 100  wr 62
                a         post  send 8  wr 3 signaled
                a         post  send 8 inv w1  wr 4 signaled
                a => b    send  number 100
                a         silent
                b => a    answer  expects 101
                a -> b    SEND_ONLY_INVALIDATE  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 3 success
                a         completion  wr 4 success
                b         completion  wr 61 success
                b         completion  wr 62 success byte-len 8 inv w1
                """);
    }

    @Test
    void aMistakeOnThisSideWaitsForItsTurn() {
        run("""
                a         post  send 8  wr 3 signaled
                a         post  send 100 from out+65500 len 100  wr 4
                a => b    send  number 100
                a         completion  none
                b => a    answer  expects 101
                a         completion  wr 3 success
                a         completion  wr 4 loc-prot-err
                a         completion  wr 51 wr-flush-err
                a         state  ERR
                b         completion  wr 61 success
                """);
    }

    // ---- states

    @Test
    void drainingWaitsForTheAnswers() {
        run("""
                a         post  send 8  wr 3 signaled
                a => b    send  number 100
                a         modify SQD
                a         post  send 8  wr 4 signaled
                a         silent
                b => a    answer  expects 101
                a         completion  wr 3 success
                a         silent
                b         completion  wr 61 success
                a         modify RTS
                b         post  recv 100  wr 62
                a -> b    SEND_ONLY  psn 101
                b -> a    ACK
                a         completion  wr 4 success
                b         completion  wr 62 success
                """);
    }

    @Test
    void inErrorTheyAreFlushedAndALateAnswerMeansNothing() {
        run("""
                a         post  send 8  wr 3 signaled
                a => b    send  number 100
                a         modify ERR
                a         completion  wr 3 wr-flush-err
                a         completion  wr 51 wr-flush-err
                b => a    answer  expects 101
                a         completion  none
                b         completion  wr 61 success
                """);
    }

    /// As with packets: who goes to ERR by itself owes nothing any more. Its device says so, and packets find out.
    @Test
    void whatWasTakenIsNotAnsweredInError() {
        run("""
                a         post  send 8  wr 3 signaled
                a => b    send  number 100
                b         completion  wr 61 success
                b         modify ERR
                nothing
                nobody moves until +50ms
                a => b    query
                b => a    decline  expects 100
                a -> b    SEND_ONLY  psn 101
                a         completion  none
                a         modify ERR
                a         completion  wr 3 wr-flush-err
                a         completion  wr 51 wr-flush-err
                """);
    }

    // ---- lost and late answers

    /// Nothing is lost on the way, but an answer may find no room.
    @Test
    void whoHasNoAnswerAsks() {
        run("""
                b         messages  full
                a         post  send 8  wr 3 signaled
                a => b    send  number 100
                b         completion  wr 61 success
                b         silent
                nothing until +49.999999ms
                nobody moves until +1ms
                b         messages  room
                a => b    query
                b => a    answer  expects 101
                a         completion  wr 3 success
                """);
    }

    /// A question declines nothing: what was handed over behind it is taken, and does not come again by packets.
    @Test
    void whatFollowsAQuestionIsDeliveredOnce() {
        run("""
                b         post  recv 100  wr 62
                b         post  recv 100  wr 63
                b         messages  full
                a         post  send 1  wr 3 signaled
                a => b    send  number 100 first
                b         completion  wr 61 success byte-len 1
                b         silent
                nobody moves until +50ms
                a         post  send 2  wr 4 signaled
                b         messages  room
                a => b    query
                b => a    answer  expects 101
                a         completion  wr 3 success
                a => b    send  number 101 follows
                b => a    answer  expects 102
                a         completion  wr 4 success
                b         completion  wr 62 success byte-len 2
                a         post  send 3  wr 5 signaled
                a => b    send  number 102 first
                b => a    answer  expects 103
                a         completion  wr 5 success
                b         completion  wr 63 success byte-len 3
                """);
    }

    /// The question finds no room. Neither that nor the answer before it changes what is taken.
    @Test
    void aQuestionWithoutRoomIsAskedLater() {
        run("""
                b         post  recv 100  wr 62
                a         post  send 1  wr 3 signaled
                a => b    send  number 100
                b         completion  wr 61 success byte-len 1
                b         completion  none
                a         messages  full
                nobody moves until +50ms
                a         messages  room
                a         post  send 2  wr 4 signaled
                a => b    send  number 101 follows
                b         completion  wr 62 success byte-len 2
                b         completion  none
                nobody moves until +50ms
                a => b    query
                b => a    answer  expects 101
                a         completion  wr 3 success
                b => a    answer  expects 102
                a         completion  wr 4 success
                b => a    answer  expects 102
                """);
    }

    @Test
    void aDeclineWithoutRoomIsToldLater() {
        run("""
                b         messages  full
                a         post  send 1  wr 3 signaled
                a         post  send 2  wr 4 signaled
                a => b    send  number 100
                b         completion  wr 61 success byte-len 1
                a => b    send  number 101
                b         post  recv 100  wr 62
                b         post  recv 100  wr 63
                a         post  send 3  wr 5 signaled
                a => b    send  number 102 follows
                nobody moves until +50ms
                b         messages  room
                a => b    query
                b => a    decline  expects 101
                a         completion  wr 3 success
                a -> b    SEND_ONLY  psn 101
                a -> b    SEND_ONLY  psn 102
                b -> a    ACK  psn 102
                a         completion  wr 4 success
                a         completion  wr 5 success
                b         completion  wr 62 success byte-len 2
                b         completion  wr 63 success byte-len 3
                """);
    }

    /// A message of the other direction says what was taken. That the next one is declined needs an answer of its
    /// own.
    @Test
    void aMessageTellsWhatWasTakenBeforeTheDecline() {
        run("""
                a         post  send 1  wr 3 signaled
                a         post  send 2  wr 4 signaled
                a => b    send  number 100
                a => b    send  number 101
                b         completion  wr 61 success byte-len 1
                b         post  send 5  wr 6 signaled
                b => a    send  number 7000 expects 101
                a         completion  wr 3 success
                a         completion  wr 51 success byte-len 5
                b => a    decline  expects 101
                b         post  recv 100  wr 62
                a => b    answer  expects 7001
                a -> b    SEND_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 4 success
                b         completion  wr 6 success
                b         completion  wr 62 success byte-len 2
                """);
    }

    /// The second answer to a run that was declined comes when the next run is under way.
    @Test
    void aLateDeclineMeansNothingForTheNextRun() {
        run("""
                a         post  send 1  wr 3 signaled
                a         post  send 2  wr 4 signaled
                a => b    send  number 100
                a => b    send  number 101
                b         completion  wr 61 success byte-len 1
                b         completion  none
                nobody moves until +50ms
                a => b    query
                b => a    decline  expects 101
                a         completion  wr 3 success
                b         post  recv 100  wr 62
                b         post  recv 100  wr 63
                a -> b    SEND_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 4 success
                b         completion  wr 62 success byte-len 2
                a         post  send 3  wr 5 signaled
                a => b    send  number 102 first
                b => a    decline  expects 101
                a         silent
                b => a    answer  expects 103
                a         completion  wr 5 success
                b         completion  wr 63 success byte-len 3
                """);
    }

    /// Both ends begin anew with the same PSNs, and an answer of the old connection is still on its way.
    @Test
    void aLateAnswerMeansNothingForTheNextConnection() {
        String again = "  modify RESET\nEND  modify INIT\nEND  modify RTR\nEND  modify RTS\n";
        run("""
                a         post  send 1  wr 3 signaled
                a => b    send  number 100
                b         completion  wr 61 success byte-len 1
                """ + ("a" + again).replace("END", "a") + ("b" + again).replace("END", "b") + """
                b         post  recv 100  wr 62
                b         post  recv 100  wr 63
                a         post  send 2  wr 4 signaled
                a -> b    SEND_ONLY  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 4 success
                b         completion  wr 62 success byte-len 2
                a         post  send 3  wr 5 signaled
                peer => a answer expects 101
                peer => a decline expects 100
                a => b    send  number 101 first
                b => a    answer  expects 102
                a         completion  wr 5 success
                b         completion  wr 63 success byte-len 3
                """);
    }

    /// The peer has begun anew in the middle of a run: it takes nothing of the rest, also not when it knows this
    /// side again.
    @Test
    void aRunEndsWithTheConnectionOfThePeer() {
        rc().retries(1).run(PROVEN + """
                a         post  send 1  wr 3 signaled
                a => b    send  number 100
                b         completion  wr 61 success byte-len 1
                b         modify RESET
                b         modify INIT
                b         modify RTR
                b         modify RTS
                b         post  recv 100  wr 62
                a         post  send 2  wr 4 signaled
                a => b    send  number 101 follows
                b         completion  none
                nobody moves until +50ms
                a => b    query
                b => a    decline  expects 100
                a -> b    SEND_ONLY  psn 101
                b -> a    NAK
                a         modify ERR
                a         completion  wr 3 wr-flush-err
                a         completion  wr 4 wr-flush-err
                a         completion  wr 51 wr-flush-err
                b         modify ERR
                b         completion  wr 62 wr-flush-err
                """);
    }

    /// Who has not seen a run says nothing about it: the number may be one of another connection.
    @Test
    void whoKnowsNoRunSaysNothingAboutIt() {
        run("""
                b         post  send 5  wr 6 signaled
                b => a    send  number 7000 silent
                a         completion  wr 51 success byte-len 5
                a => b    answer  expects 7001
                b         completion  wr 6 success
                """);
    }

    @Test
    void numbersGoRound() {
        rc().psn(0xFFFFFE).run(PROVEN.replace("psn 100", "psn 16777214") + """
                b         post  recv 100  wr 62
                b         post  recv 100  wr 63
                b         post  recv 100  wr 64
                a         post  send 1  wr 3 signaled
                a         post  send 2  wr 4 signaled
                a         post  send 3  wr 5 signaled
                a => b    send  number 16777214
                a => b    send  number 16777215
                a => b    send  number 0
                b => a    answer  expects 1
                a         completion  wr 3 success
                a         completion  wr 4 success
                a         completion  wr 5 success
                b         completion  wr 61 success
                b         completion  wr 62 success
                b         completion  wr 63 success
                a         post  send 4  wr 6 signaled
                a => b    send  number 1
                peer => a answer expects 16777215
                b => a    answer  expects 2
                a         completion  wr 6 success
                b         completion  wr 64 success
                """);
    }

    @Test
    void aPeerThatHasNotReadIsNotAsked() {
        run("""
                b         messages  full
                a         post  send 8  wr 3 signaled
                a         messages  unread
                a => b    send  number 100
                b         completion  wr 61 success
                nobody moves until +10s
                b         messages  room
                a         messages  read
                nobody moves until +50ms
                a => b    query
                b => a    answer  expects 101
                a         completion  wr 3 success
                """);
    }

    /// Time ends nothing: a peer that lives has an answer some day, and a dead one is known otherwise.
    @Test
    void aPeerWithoutAnAnswerIsAskedForEver() {
        rc().retries(0).run(PROVEN + """
                b         messages  full
                a         post  send 8  wr 3 signaled
                a => b    send  number 100
                b         completion  wr 61 success
                """ + "nobody moves until +50ms\na => b  query\n".repeat(20) + """
                a         completion  none
                b         messages  room
                nobody moves until +50ms
                a => b    query
                b => a    answer  expects 101
                a         completion  wr 3 success
                """);
    }

    /// A peer that has begun anew knows nothing of the message: packets decide then.
    @Test
    void aPeerThatIsElsewhereGetsPackets() {
        run("""
                a         post  send 8  wr 3 signaled
                a => b    send  number 100
                b => a    answer  expects 101
                a         completion  wr 3 success
                b         completion  wr 61 success
                b         modify RESET
                b         modify INIT
                b         modify RTR
                b         modify RTS
                b         post  recv 100  wr 62
                a         post  send 8  wr 4 signaled
                a => b    send  number 101
                b => a    decline  expects 101
                a -> b    SEND_ONLY  psn 101
                b -> a    NAK
                a         modify ERR
                a         completion  wr 4 wr-flush-err
                a         completion  wr 51 wr-flush-err
                b         modify ERR
                b         completion  wr 62 wr-flush-err
                """);
    }

    /// The question was written before an answer came, and is read by a peer that has begun anew.
    @Test
    void aPeerThatIsElsewhereDeclinesWhatTheLastQuestionNames() {
        run("""
                b         post  recv 100  wr 62
                a         post  send 1  wr 3 signaled
                a         post  send 2  wr 4 signaled
                a => b    send  number 100
                b         completion  wr 61 success
                nobody moves until +50ms
                b => a    answer  expects 101
                a         completion  wr 3 success
                b         modify RESET
                b         modify INIT
                b         modify RTR
                b         modify RTS
                a => b    send  number 101 follows
                a => b    query
                b => a    decline  expects 100
                a         silent
                nobody moves until +50ms
                nobody moves until +50ms
                a => b    query
                b => a    decline  expects 101
                a -> b    SEND_ONLY  psn 101
                b -> a    NAK
                a         modify ERR
                a         completion  wr 4 wr-flush-err
                a         completion  wr 51 wr-flush-err
                """);
    }
}
