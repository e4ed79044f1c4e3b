package verbena.checked.corpus;

import verbena.check.Rule;

/// Remote memory is copied to another place by a READ and a WRITE.
final class CopyByReadAndWrite implements Program {
    @Override
    public Rule rule() {
        return Rule.READ_UNFENCED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 512), scene.local.slice(0, 512)); // earlier
        scene.here.postWrite(2, scene.local.slice(0, 512), scene.remote.remote().slice(4_096, 512)); // here
        scene.take(scene.sent);
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 512), scene.local.slice(0, 512));
        scene.take(scene.sent);
        scene.here.postWrite(2, scene.local.slice(0, 512), scene.remote.remote().slice(4_096, 512));
        scene.take(scene.sent);
    }
}
