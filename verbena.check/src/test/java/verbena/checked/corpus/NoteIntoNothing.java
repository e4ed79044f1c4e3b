package verbena.checked.corpus;

import verbena.check.Rule;

/// Receives for WRITEs with immediate have no buffer, and a message meets one of them.
final class NoteIntoNothing implements Program {
    @Override
    public Rule rule() {
        return Rule.RECEIVE_SHORT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var batch = scene.there.receiveBatch()) {
            batch.receive(1);
            batch.submit(); // earlier
        }
        scene.here.postSend(2, scene.local.slice(0, 8)); // here
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var batch = scene.there.receiveBatch()) {
            batch.receive(1);
            batch.submit();
        }
        scene.here.postWriteWithImmediate(
                2, scene.local.slice(0, 8), scene.remote.remote().slice(0, 8), 3);
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
