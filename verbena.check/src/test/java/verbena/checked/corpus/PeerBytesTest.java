package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import verbena.check.Finding;
import verbena.check.Rule;

/// What a processor changes while requests of a peer access it, in programs that say nothing of it.
class PeerBytesTest {
    @FunctionalInterface
    private interface Scene {
        void play(TwoEnds scene) throws Exception;
    }

    private static List<Finding> found(Scene program) throws Exception {
        try (var scene = new TwoEnds(Set.of())) {
            scene.connect();
            program.play(scene);
            return scene.checker.findings().all().stream()
                    .filter(each -> each.rule() == Rule.RACE_PROCESSOR)
                    .toList();
        }
    }

    private static void store(TwoEnds scene, long offset) {
        long old = scene.remote.segment().get(JAVA_LONG, offset);
        scene.remote.segment().set(JAVA_LONG, offset, old + 40);
    }

    @Test
    void bytesThatChangeWhileAReadIsOutstandingAreToldWithBothPlaces() throws Exception {
        assertThat(found(scene -> {
                    scene.here.postRead(1, scene.remote.remote().slice(0, 256), scene.local.slice(0, 256));
                    store(scene, 64);
                    scene.take(scene.sent);
                }))
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.detail()).contains("outstanding READ");
                    assertThat(each.noticed().toString()).contains("TwoEnds.take");
                    assertThat(each.earlier().toString()).contains("PeerBytesTest");
                });
    }

    /// A few words in a line are flags, as the indexes of a ring. A program that changes one changes no other with it.
    @Test
    void oneWordOfALineThatChangesIsAFlag() throws Exception {
        assertThat(found(scene -> {
                    scene.here.postRead(1, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64));
                    store(scene, 8);
                    scene.take(scene.sent);
                }))
                .isEmpty();
        assertThat(found(scene -> {
                    scene.here.postRead(1, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64));
                    store(scene, 8);
                    store(scene, 56);
                    scene.take(scene.sent);
                }))
                .hasSize(1);
    }

    /// A reader that takes both takes them for one record. The words of a READ come from several moments.
    @Test
    void aSecondWordOfALineThatChangesIsNoFlag() throws Exception {
        assertThat(found(scene -> {
                    for (int i = 0; i < 4; i++) {
                        scene.here.postRead(i, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64));
                        store(scene, 8);
                        scene.take(scene.sent);
                    }
                }))
                .isEmpty();
        assertThat(found(scene -> {
                    scene.here.postRead(1, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64));
                    store(scene, 8);
                    scene.take(scene.sent);
                    scene.here.postRead(2, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64));
                    store(scene, 16);
                    scene.take(scene.sent);
                }))
                .hasSize(1);
    }

    /// This process need not see what a completed request has changed. So what it sees later is no sign of a store.
    @Test
    void memoryThatAPeerHasChangedBeforeIsNotWatched() throws Exception {
        assertThat(found(scene -> {
                    scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8));
                    scene.take(scene.sent);
                    scene.here.postRead(2, scene.remote.remote().slice(0, 256), scene.local.slice(0, 256));
                    store(scene, 64);
                    scene.take(scene.sent);
                }))
                .isEmpty();
    }

    @Test
    void whatChangesAfterTheCompletionIsNotTold() throws Exception {
        assertThat(found(scene -> {
                    scene.here.postRead(1, scene.remote.remote().slice(0, 256), scene.local.slice(0, 256));
                    scene.take(scene.sent);
                    store(scene, 64);
                }))
                .isEmpty();
    }

    @Test
    void whatARequestMayHaveChangedIsNotTold() throws Exception {
        assertThat(found(scene -> {
                    scene.local.segment().fill((byte) 7);
                    scene.here.postRead(1, scene.remote.remote().slice(0, 256), scene.local.slice(0, 256));
                    scene.here.postWrite(
                            2, scene.local.slice(512, 8), scene.remote.remote().slice(64, 8));
                    scene.take(scene.sent);
                    scene.take(scene.sent);
                    scene.there.postReceive(3, scene.remote.slice(512, 64));
                    scene.here.postRead(4, scene.remote.remote().slice(512, 256), scene.local.slice(512, 256));
                    scene.here.postSend(5, scene.local.slice(1_024, 64));
                    scene.take(scene.sent);
                    scene.take(scene.sent);
                    scene.take(scene.arrived);
                }))
                .isEmpty();
    }

    @Test
    void aReaderThatLooksAtAVersionIsNotTold() throws Exception {
        assertThat(found(scene -> {
                    scene.here.postRead(1, scene.remote.remote().slice(0, 256), scene.local.slice(0, 256));
                    store(scene, 64);
                    scene.take(scene.sent);
                    scene.here.postRead(2, scene.remote.remote().slice(0, 8), scene.local.slice(256, 8));
                    scene.take(scene.sent);
                    scene.here.postRead(3, scene.remote.remote().slice(0, 256), scene.local.slice(0, 256));
                    store(scene, 64);
                    scene.take(scene.sent);
                }))
                .isEmpty();
    }
}
