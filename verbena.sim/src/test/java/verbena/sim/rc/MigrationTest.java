package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;
import static verbena.sim.script.PacketScript.xrc;

import org.junit.jupiter.api.Test;
import verbena.sim.script.PacketScript;

/// Migration to an alternate path (IBTA 17.2.8, decision 11). Packets of a queue pair that has migrated have the
/// bit MigReq.
class MigrationTest {
    /// Both ends load a path, and a message each way arms them.
    private static final String ARMED = """
            a         modify  alternate 10.0.1.2 migration REARM
            b         modify  alternate 10.0.1.1 migration REARM
            b         post  write 1 -> r2+0
            b -> a    WRITE_ONLY  psn 7000  migrated 0  from 10.0.0.2 to 10.0.0.1
            a         migration  ARMED
            a -> b    ACK  psn 7000  migrated 0
            b         migration  ARMED
            """;

    private static PacketScript migrating() {
        return rc().migration().retries(1);
    }

    @Test
    void aConnectionBeginsAsMigrated() {
        migrating().run("""
                a         migration  MIGRATED
                a         post  write 1 -> r1+0
                a -> b    WRITE_ONLY  psn 100  migrated
                b -> a    ACK  psn 100  migrated
                """);
    }

    @Test
    void onAWireWithoutMigrationPacketsDoNotTell() {
        rc().run("""
                a         post  write 1 -> r1+0
                a -> b    WRITE_ONLY  psn 100  migrated 0
                b -> a    ACK  psn 100  migrated 0
                """);
    }

    @Test
    void anEndIsArmedOnceItsPeerHasLoadedAPathToo() {
        migrating().run("""
                a         modify  alternate 10.0.1.2 migration REARM
                a         post  write 1 -> r1+0
                a -> b    WRITE_ONLY  psn 100  migrated 0
                b -> a    ACK  psn 100  migrated
                a         migration  REARM
                b         migration  MIGRATED
                b         modify  alternate 10.0.1.1 migration REARM
                a         post  write 1 -> r1+0
                a -> b    WRITE_ONLY  psn 101  migrated 0
                b         migration  ARMED
                b -> a    ACK  psn 101  migrated 0
                a         migration  ARMED
                """);
    }

    @Test
    void whenAllRetriesAreUsedUpTheConnectionMigratesAndNothingFails() {
        migrating().run(ARMED + """
                a         post  write 10 -> r1+0  wr 7 signaled
                a -x b    WRITE_ONLY  psn 100  migrated 0
                +67.108864ms  a -x b    WRITE_ONLY  psn 100  migrated 0  from 10.0.0.1 to 10.0.0.2
                +67.108864ms  a -> b    WRITE_ONLY  psn 100  migrated  from 10.0.1.1 to 10.0.1.2
                a         event  PATH_MIG
                a         migration  MIGRATED
                b         event  PATH_MIG
                b         migration  MIGRATED
                b -> a    ACK  psn 100  migrated  from 10.0.1.2 to 10.0.1.1
                a         completion  wr 7 success
                b         memory  r1+0 len 10 as sent only
                a         state  RTS
                """);
    }

    @Test
    void whatWasUnderWayIsSentAgainByTheOtherPath() {
        migrating().mtu(256).run(ARMED + """
                a         post  write 600 -> r1+0  wr 7 signaled
                a -> b    WRITE_FIRST   psn 100
                a -x b    WRITE_MIDDLE  psn 101
                a -x b    WRITE_LAST    psn 102
                +67.108864ms  a -x b    WRITE_FIRST  psn 100
                a -x b    WRITE_MIDDLE  psn 101
                a -x b    WRITE_LAST    psn 102
                +67.108864ms  a -> b    WRITE_FIRST  psn 100  migrated  from 10.0.1.1 to 10.0.1.2
                a -> b    WRITE_MIDDLE  psn 101  migrated  from 10.0.1.1 to 10.0.1.2
                a -> b    WRITE_LAST    psn 102  migrated  from 10.0.1.1 to 10.0.1.2
                b -> a    ACK  psn 102  migrated  from 10.0.1.2 to 10.0.1.1
                a         completion  wr 7 success
                b         memory  r1+0 len 600 as sent only
                a         event  PATH_MIG
                b         event  PATH_MIG
                """);
    }

    @Test
    void aReadGoesOnByTheOtherPath() {
        migrating().run(ARMED + """
                a         post  read 10 <- r1+0  wr 7 signaled
                a -> b    READ_REQUEST  psn 100
                b -x a    READ_RESPONSE_ONLY  psn 100
                +67.108864ms  a -x b    READ_REQUEST  psn 100
                +67.108864ms  a -> b    READ_REQUEST  psn 100  migrated  from 10.0.1.1 to 10.0.1.2
                b -> a    READ_RESPONSE_ONLY  psn 100  migrated  from 10.0.1.2 to 10.0.1.1
                a         completion  wr 7 success
                a         event  PATH_MIG
                b         event  PATH_MIG
                """);
    }

    @Test
    void theOtherPathHasItsOwnRetriesAndFailsAfterThem() {
        migrating().run(ARMED + """
                a         post  write 10 -> r1+0  wr 7 signaled
                a -x b    WRITE_ONLY  psn 100
                +67.108864ms  a -x b    WRITE_ONLY  psn 100
                +67.108864ms  a -x b    WRITE_ONLY  psn 100  migrated
                a         event  PATH_MIG
                +67.108864ms  a -x b    WRITE_ONLY  psn 100  migrated
                nothing until +67.108864ms
                a         completion  wr 7 retry-exc-err
                a         state  ERR
                """);
    }

    @Test
    void anEndThatIsNotArmedFails() {
        migrating().run("""
                a         modify  alternate 10.0.1.2 migration REARM
                a         post  write 10 -> r1+0  wr 7 signaled
                a -x b    WRITE_ONLY  psn 100  migrated 0
                +67.108864ms  a -x b    WRITE_ONLY  psn 100
                nothing until +67.108864ms
                a         completion  wr 7 retry-exc-err
                a         state  ERR
                """);
    }

    @Test
    void aProgramMigratesAndThePeerFollows() {
        migrating().run(ARMED + """
                b         modify  migration MIGRATED
                b         event  PATH_MIG
                b         post  write 10 -> r2+0  wr 7 signaled
                b -> a    WRITE_ONLY  psn 7001  migrated  from 10.0.1.2 to 10.0.1.1
                a         event  PATH_MIG
                a -> b    ACK  psn 7001  migrated  from 10.0.1.1 to 10.0.1.2
                b         completion  wr 7 success
                """);
    }

    @Test
    void packetsOfTheOldPathThatAreLateAreNotThePeersAndAreSentAgain() {
        migrating().run(ARMED + """
                a         post  write 10 -> r1+0  wr 7 signaled
                a ->>5ms b    WRITE_ONLY  psn 100  migrated 0
                b         modify  migration MIGRATED
                b         event  PATH_MIG
                nobody moves until +5ms
                b         counter  dropped.source 1
                +62.108864ms  a -> b    WRITE_ONLY  psn 100  migrated 0
                b         counter  dropped.source 2
                +67.108864ms  a -> b    WRITE_ONLY  psn 100  migrated  from 10.0.1.1 to 10.0.1.2
                b -> a    ACK  psn 100
                a         completion  wr 7 success
                a         event  PATH_MIG
                """);
    }

    @Test
    void aRequestToMigrateThatComesByTheWrongPathIsReportedOnce() {
        migrating().run(ARMED + """
                peer -> b    WRITE_ONLY  psn 100  migrated  r1+0 len 1  | 1  => dropped.source
                b         event  PATH_MIG_ERR
                peer -> b    WRITE_ONLY  psn 100  migrated  r1+0 len 1  | 1  => dropped.source
                b         migration  ARMED
                peer -> b    WRITE_ONLY  psn 100  ackreq  migrated 0  r1+0 len 1  | 1  => accepted
                b -> peer    ACK  psn 100
                """);
    }

    @Test
    void aStrangerMigratesNothing() {
        migrating().run(ARMED + """
                peer -> b    WRITE_ONLY  psn 100  migrated  r1+0 len 1  | 1  from 10.0.1.9 to 10.0.1.2  => dropped.source
                b         migration  ARMED
                peer -> b    WRITE_ONLY  psn 100  migrated  pkey 0x8001  r1+0 len 1  | 1  from 10.0.1.1 to 10.0.1.2  => dropped.source
                b         migration  ARMED
                """);
    }

    @Test
    void afterAMigrationAnotherPathIsLoadedAndTheWayBackIsOpen() {
        migrating().run(ARMED + """
                a         modify  migration MIGRATED
                a         event  PATH_MIG
                a         post  write 1 -> r1+0
                a -> b    WRITE_ONLY  psn 100  migrated
                b         event  PATH_MIG
                b -> a    ACK  psn 100
                a         modify  alternate 10.0.1.2 migration REARM
                b         modify  alternate 10.0.1.1 migration REARM
                a         post  write 1 -> r1+0
                a -> b    WRITE_ONLY  psn 101  migrated 0  from 10.0.1.1 to 10.0.1.2
                b -> a    ACK  psn 101  migrated 0
                a         migration  ARMED
                b         migration  ARMED
                """);
    }

    @Test
    void aNewPathIsArmedAnew() {
        migrating().run(ARMED + """
                a         modify  alternate 10.0.1.2
                a         migration  REARM
                a         post  write 1 -> r1+0
                a -> b    WRITE_ONLY  psn 100  migrated 0
                b -> a    ACK  psn 100  migrated 0
                a         migration  ARMED
                """);
    }

    @Test
    void keepAlivesMigrateAConnectionThatIsIdle() {
        migrating().run(ARMED + """
                a         modify  keep-alive 10ms
                +10ms     a -x b    WRITE_ONLY  psn 100
                +67.108864ms  a -x b    WRITE_ONLY  psn 100
                +67.108864ms  a -> b    WRITE_ONLY  psn 100  migrated  from 10.0.1.1 to 10.0.1.2
                a         event  PATH_MIG
                b         event  PATH_MIG
                b -> a    ACK  psn 100  migrated
                """);
    }

    @Test
    void anExtendedConnectionMigratesToo() {
        xrc().migration().retries(1).run("""
                a         modify  alternate 10.0.1.2 migration REARM
                b         modify  alternate 10.0.1.1 migration REARM
                a         post  write 1 -> r1+0 srq 77
                a -> b    XRC_WRITE_ONLY  psn 100  migrated 0
                b -> a    XRC_ACK  psn 100  migrated 0
                a         migration  ARMED
                b         migration  ARMED
                a         modify  migration MIGRATED
                a         event  PATH_MIG
                a         post  write 1 -> r1+0 srq 77 wr 7 signaled
                a -> b    XRC_WRITE_ONLY  psn 101  migrated  from 10.0.1.1 to 10.0.1.2
                b         event  PATH_MIG
                b -> a    XRC_ACK  psn 101  migrated  from 10.0.1.2 to 10.0.1.1
                a         completion  wr 7 success
                """);
    }
}
