package verbena.checked.corpus;

import verbena.check.Rule;

/// A completion queue is never closed.
final class QueueLeaked implements Program {
    @Override
    public Rule rule() {
        return Rule.LEAK;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var forgotten = scene.device.createCompletionQueue(16); // earlier
        scene.exit();
        forgotten.close();
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var closed = scene.device.createCompletionQueue(16);
        closed.close();
        scene.exit();
    }
}
