package verbena.sim.uc;

import static verbena.sim.script.PacketScript.uc;

import org.junit.jupiter.api.Test;

/// Migration of an unreliable connection: nothing is acknowledged, so a program migrates, or the peer does.
class MigrationTest {
    @Test
    void aProgramMigratesAndThePeerFollows() {
        uc().migration().run("""
                a         modify  alternate 10.0.1.2 migration REARM
                b         modify  alternate 10.0.1.1 migration REARM
                a         post  write 1 -> r1+0
                a -> b    UC_WRITE_ONLY  psn 100  migrated 0
                b         migration  ARMED
                b         post  write 1 -> r2+0
                b -> a    UC_WRITE_ONLY  psn 7000  migrated 0
                a         migration  ARMED
                a         modify  migration MIGRATED
                a         event  PATH_MIG
                a         post  write 10 -> r1+0
                a -> b    UC_WRITE_ONLY  psn 101  migrated  from 10.0.1.1 to 10.0.1.2
                b         event  PATH_MIG
                b         memory  r1+0 len 10 as sent only
                b         post  write 1 -> r2+0
                b -> a    UC_WRITE_ONLY  psn 7001  migrated  from 10.0.1.2 to 10.0.1.1
                """);
    }
}
