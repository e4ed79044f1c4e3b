package verbena.checked.corpus;

import verbena.check.Rule;

/// What a CMP_SWAP found is sent on with the next request.
final class CompareSwapForwarded implements Program {
    @Override
    public Rule rule() {
        return Rule.READ_UNFENCED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(64, 64));
        scene.here.postCompareSwap(2, scene.remote.remote(), 0, 1, scene.local.slice(0, 8)); // earlier
        scene.here.postSend(3, scene.local.slice(0, 8)); // here
        scene.take(scene.sent);
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(64, 64));
        scene.here.postCompareSwap(2, scene.remote.remote(), 0, 1, scene.local.slice(0, 8));
        scene.take(scene.sent);
        scene.here.postSend(3, scene.local.slice(0, 8));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
