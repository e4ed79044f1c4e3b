package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;
import verbena.sim.script.PacketScript;

/// Marks, notifications, and what they do to a sender.
class CongestionTest {
    /// A packet with 1,024 bytes takes 1,086 on the wire: 86.88 us at 100 Mbit/s, twice as long at half of that.
    private static final String DCQCN =
            "dcqcn,rpg_max_rate:100,rpg_min_rate:1,rpg_time_reset:10000,dce_tcp_rtt:10000,rpg_threshold:1,rpg_ai_rate:5";

    @Test
    void withoutARuleNoPacketMayBeMarkedAndMarksMeanNothing() {
        rc().run("""
                a         post  write 10 -> r1+0  wr 1 signaled
                a -> b    WRITE_ONLY  psn 100  | 10  tos 0
                b -> a    ACK  psn 100  tos 0
                a         completion  wr 1 success
                peer -> b    WRITE_ONLY  psn 101  r1+0  ackreq  | 8  tos 3  => accepted
                b -> peer    ACK  psn 101
                b         counter  np_ecn_marked_roce_packets 0
                """);
    }

    @Test
    void aMarkIsAnsweredByANotificationBeforeAnythingElse() {
        rc().congestion(DCQCN).run("""
                a         post  write 10 -> r1+0  wr 1 signaled
                a -ce> b  WRITE_ONLY  psn 100  | 10  tos 2
                b -> a    CNP  psn 0  becn  | 16  tos 0xc2  => accepted
                b -> a    ACK  psn 100  tos 2
                a         completion  wr 1 success
                b         counter  np_ecn_marked_roce_packets 1
                b         counter  np_cnp_sent 1
                a         counter  rp_cnp_handled 1
                a         counter  rp_cnp_ignored 0
                """);
    }

    @Test
    void atMostOneNotificationLeavesInItsTime() {
        rc().congestion("dcqcn,min_time_between_cnps:50").run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  | 8  tos 3  => accepted
                b -> peer    CNP
                peer -> b    WRITE_ONLY  psn 101  r1+0  | 8  tos 3  => accepted
                nothing
                +49us  peer -> b    WRITE_ONLY  psn 102  r1+0  | 8  tos 3  => accepted
                nothing
                +1us   peer -> b    WRITE_ONLY  psn 103  r1+0  ackreq  | 8  tos 3  => accepted
                b -> peer    CNP
                b -> peer    ACK  psn 103
                b         counter  np_ecn_marked_roce_packets 4
                b         counter  np_cnp_sent 2
                """);
    }

    @Test
    void aMarkedPacketWithoutDataIsCountedAndNotAnswered() {
        rc().congestion("dcqcn").run("""
                a         post  write 10 -> r1+0  wr 1 signaled
                a -> b    WRITE_ONLY  psn 100  | 10
                b -ce> a  ACK  psn 100  => accepted
                a         completion  wr 1 success
                nothing
                a         counter  np_ecn_marked_roce_packets 1
                a         counter  np_cnp_sent 0
                """);
    }

    @Test
    void aNotificationHalvesTheRateAndTimeBringsItBack() {
        // Of the past, 50 us are made up for: the first packet after the cut leaves at once, the next by so much
        // earlier.
        rc().congestion(DCQCN).run("""
                a         post  write 20480 -> r1+0  wr 1 signaled
                a -> b    WRITE_FIRST   psn 100  | 1024
                a -> b    WRITE_MIDDLE  psn 101  | 1024        # at the rate of the line
                a -ce> b  WRITE_MIDDLE  psn 102  | 1024
                b -> a    CNP
                a -> b    WRITE_MIDDLE  psn 103  | 1024
                +123.760us  a -> b    WRITE_MIDDLE  psn 104  ackreq  | 1024
                b -> a    ACK  psn 104
                +173.760us  a -> b    WRITE_MIDDLE  psn 105  ackreq  | 1024
                b -> a    ACK  psn 105
                +173.760us  a -> b    WRITE_MIDDLE  psn 106  ackreq  | 1024
                b -> a    ACK  psn 106
                nobody moves until +9.6ms                      # the rate has risen: 75 Mbit/s
                a -> b    WRITE_MIDDLE  psn 107  ackreq  | 1024
                b -> a    ACK  psn 107
                +65.840us   a -> b    WRITE_MIDDLE  psn 108  ackreq  | 1024
                b -> a    ACK  psn 108
                +115.840us  a -> b    WRITE_MIDDLE  psn 109  ackreq  | 1024
                b -> a    ACK  psn 109
                nobody moves until +100ms                      # and is that of the line again
                a -> b    WRITE_MIDDLE  psn 110  ackreq  | 1024
                b -> a    ACK  psn 110
                a -> b    WRITE_MIDDLE  psn 111  | 1024
                a -> b    WRITE_MIDDLE  psn 112  | 1024
                a -> b    WRITE_MIDDLE  psn 113  | 1024
                a -> b    WRITE_MIDDLE  psn 114  | 1024
                a -> b    WRITE_MIDDLE  psn 115  | 1024
                a -> b    WRITE_MIDDLE  psn 116  | 1024
                a -> b    WRITE_MIDDLE  psn 117  | 1024
                a -> b    WRITE_MIDDLE  psn 118  | 1024
                a -> b    WRITE_LAST    psn 119  ackreq  | 1024
                b -> a    ACK  psn 119
                a         completion  wr 1 success
                b         memory  r1+0 len 20480 as sent
                """);
    }

    @Test
    void anEndThatAnswersAReadIsSlowedByItsReader() {
        rc().congestion(DCQCN).run("""
                a         post  read 4096 <- r1+0  wr 1 signaled
                a -> b    READ_REQUEST  psn 100
                b -> a    READ_RESPONSE_FIRST   psn 100  | 1024
                b -ce> a  READ_RESPONSE_MIDDLE  psn 101  | 1024
                a -> b    CNP  becn  | 16
                b -> a    READ_RESPONSE_MIDDLE  psn 102  | 1024
                +123.760us  b -> a    READ_RESPONSE_LAST  psn 103  | 1024
                a         completion  wr 1 success
                a         memory  in+0 len 4096 as b r1+0
                b         counter  rp_cnp_handled 1
                """);
    }

    @Test
    void aRateIsThatOfAPathAndTheAlternateOneBeginsAtTheRateOfTheLine() {
        rc().migration().congestion(DCQCN).run("""
                a         modify  alternate 10.0.1.2 migration REARM
                b         modify  alternate 10.0.1.1 migration REARM
                b         post  write 1 -> r2+0
                b -> a    WRITE_ONLY  psn 7000  migrated 0
                a -> b    ACK  psn 7000  migrated 0
                a         post  write 6144 -> r1+0  wr 1 signaled
                a -ce> b  WRITE_FIRST   psn 100  | 1024
                b -> a    CNP
                a -> b    WRITE_MIDDLE  psn 101  | 1024
                +123.760us  a -> b    WRITE_MIDDLE  psn 102  ackreq  | 1024  # at half the rate
                b -> a    ACK  psn 102
                b         modify  migration MIGRATED
                b         event  PATH_MIG
                b         post  write 1 -> r2+0
                b -> a    WRITE_ONLY  psn 7001  migrated
                a         event  PATH_MIG
                a -> b    ACK  psn 7001  migrated
                a -> b    WRITE_MIDDLE  psn 103  migrated  | 1024
                a -> b    WRITE_MIDDLE  psn 104  migrated  | 1024
                a -> b    WRITE_LAST    psn 105  migrated  | 1024
                b -> a    ACK  psn 105
                a         completion  wr 1 success
                """);
    }

    @Test
    void theRateIsNeverLessThanTheLeast() {
        // A peer that never stops to notify slows its own connection, and no further than that.
        rc().congestion("dcqcn,rpg_max_rate:100,rpg_min_rate:40,rpg_time_reset:100000")
                .run("""
                peer -> a    CNP  psn 0  becn  | 16  => accepted
                peer -> a    CNP  psn 0  becn  | 16  => dropped.notification
                +4us    peer -> a    CNP  psn 0  becn  | 16  => accepted
                +4us    peer -> a    CNP  psn 0  becn  | 16  => accepted
                a         counter  rp_cnp_handled 3
                a         counter  rp_cnp_ignored 1
                a         post  write 2048 -> r1+0  wr 1 signaled
                a -> b    WRITE_FIRST   psn 100  | 1024
                +170.400us  a -> b    WRITE_LAST   psn 101  ackreq  | 1024    # 40 Mbit/s
                b -> a    ACK  psn 101
                a         completion  wr 1 success
                """);
    }

    @Test
    void anotherHostCannotSlowAConnection() {
        rc().congestion(DCQCN).run("""
                peer -> a    CNP  psn 0  becn  | 16  from 10.0.0.9  => dropped.source
                peer -> a    CNP  psn 0  becn  | 16  qp 0x99  => dropped.unknown-qp
                peer -> a    CNP  psn 0  becn  | 16  badicrc  => dropped.icrc
                peer -> a    CNP  psn 0  becn  | 8  => dropped.malformed
                a         counter  rp_cnp_handled 0
                a         post  write 3072 -> r1+0  wr 1 signaled
                a -> b    WRITE_FIRST   psn 100  | 1024
                a -> b    WRITE_MIDDLE  psn 101  | 1024
                a -> b    WRITE_LAST    psn 102  ackreq  | 1024
                b -> a    ACK  psn 102
                a         completion  wr 1 success
                """);
    }

    @Test
    void aSenderByDelayIgnoresNotifications() {
        rc().congestion("swift").run("""
                peer -> a    CNP  psn 0  becn  | 16  => dropped.notification
                a         counter  rp_cnp_ignored 1
                """);
    }

    @Test
    void answersThatTakeLongMakeTheWindowSmall() {
        // An answer after ten times the target leaves a tenth of the window: from 128 to 12.8, 1.28 and 0.128.
        rc().congestion("swift,target:100,flow:0,beta:1,cut_max:0.99").run("""
                a         post  write 10 -> r1+0  wr 1 signaled
                a -> b    WRITE_ONLY  psn 100  | 10
                b ->>1ms a    ACK  psn 100
                nothing until +1ms
                a         completion  wr 1 success
                a         post  write 10 -> r1+0  wr 2 signaled
                a -> b    WRITE_ONLY  psn 101  | 10
                b ->>1ms a    ACK  psn 101
                nothing until +1ms
                a         completion  wr 2 success
                a         post  write 6144 -> r1+0  wr 3 signaled
                a -> b    WRITE_FIRST   psn 102  ackreq  | 1024          # one at a time
                a         silent
                b ->>100us a  ACK  psn 102                               # within the target: the window grows
                nothing until +100us
                a -> b    WRITE_MIDDLE  psn 103  ackreq  | 1024
                a -> b    WRITE_MIDDLE  psn 104  ackreq  | 1024
                a         silent
                b ->>1ms a    ACK  psn 104                               # too late: less than one packet
                nothing until +1ms
                a -> b    WRITE_MIDDLE  psn 105  ackreq  | 1024
                b ->>100us a  ACK  psn 105
                nothing until +4.5ms                                     # a pause of five round trips
                +373969ns a -> b    WRITE_MIDDLE  psn 106  ackreq  | 1024
                b -> a    ACK  psn 106
                a -> b    WRITE_LAST  psn 107  ackreq  | 1024
                b -> a    ACK  psn 107
                a         completion  wr 3 success
                b         memory  r1+0 len 6144 as sent
                """);
    }

    /// Swift with so small a window that a packet leaves 100 ms after the one before it, the longest pause.
    private static final String PAUSED = """
            a         post  write 10 -> r1+0  wr 1
            a -> b    WRITE_ONLY  psn 100  | 10
            b ->>10ms a    ACK  psn 100
            nothing until +10ms
            a         post  write 1024 -> r1+0  wr 2
            a -> b    WRITE_ONLY  psn 101  | 1024
            b ->>10ms a    ACK  psn 101
            nothing until +10ms
            """;

    private static PacketScript paused() {
        return rc().congestion("swift,target:100,flow:0,beta:1,cut_max:0.99");
    }

    @Test
    void thePauseBetweenPacketsHasABound() {
        paused().run(PAUSED + """
                a         post  write 3072 -> r1+0  wr 3 signaled
                a -> b    WRITE_FIRST   psn 102  ackreq  | 1024
                b ->>10ms a    ACK  psn 102
                nothing until +99.950ms
                a -> b    WRITE_MIDDLE  psn 103  ackreq  | 1024
                b ->>10ms a    ACK  psn 103
                nothing until +100ms
                a -> b    WRITE_LAST    psn 104  ackreq  | 1024
                b -> a    ACK  psn 104
                a         completion  wr 3 success
                """);
    }

    @Test
    void theAckTimerRunsFromWhenAPacketLeavesAndNotWhileItWaitsForItsTime() {
        paused().retries(1).run(PAUSED + """
                a         post  write 1024 -> r1+0  wr 3 signaled
                a -x b    WRITE_ONLY  psn 102  | 1024
                +35ms       a -x b    WRITE_ONLY  psn 102  | 1024            # a probe
                +64.950ms   a -x b    WRITE_ONLY  psn 102  | 1024            # the timer has run out 33 ms ago
                nothing until +67.108864ms
                a         completion  wr 3 retry-exc-err
                """);
    }
}
