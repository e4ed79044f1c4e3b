package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import verbena.check.Rule;

/// A reader polls the last byte of its buffer for the result of a READ, and clears the buffer before it takes the
/// completion.
final class ResultWrittenEarly implements Program {
    private static final int BYTES = 256;

    @Override
    public Rule rule() {
        return Rule.TARGET_WRITTEN;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.remote.segment().asSlice(0, BYTES).fill((byte) 7);
        scene.here.postRead(1, scene.remote.remote().slice(0, BYTES), scene.local.slice(0, BYTES)); // earlier
        while (scene.local.segment().get(JAVA_BYTE, BYTES - 1) == 0) {
            scene.device.counters(); // a look at the device, which is not a look at the completion queue
        }
        scene.local.segment().asSlice(0, BYTES).fill((byte) 0);
        scene.take(scene.sent); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.remote.segment().asSlice(0, BYTES).fill((byte) 7);
        scene.here.postRead(1, scene.remote.remote().slice(0, BYTES), scene.local.slice(0, BYTES));
        scene.take(scene.sent);
        scene.local.segment().asSlice(0, BYTES).fill((byte) 0);
    }
}
