package verbena.nic.roce;

import java.util.Optional;
import verbena.cm.CmConnection;
import verbena.verbs.AddressVector;
import verbena.verbs.QueuePairAttributes;
import verbena.wire.cm.Apr;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.Req;

/// The alternate paths of an established connection (decision 11). After a migration the active side names the
/// path that has been left. When the peer has loaded it too, both arm it: its LIDs lead another way by then, or its
/// cable is back. Confined to the first engine.
final class AlternatePaths {
    private final ConnectionHost service;
    private final QueuePairSteps steps;
    private final ConnectedQueuePair queuePair;

    AlternatePaths(ConnectionHost service, QueuePairSteps steps, ConnectedQueuePair queuePair) {
        this.service = service;
        this.steps = steps;
        this.queuePair = queuePair;
    }

    /// Handles, on either side, that the queue pair uses its alternate path.
    void onMigrated(CmConnection of) {
        queuePair.look(now -> service.host().engine().execute(() -> leave(of, now)));
    }

    private void leave(CmConnection of, QueuePairAttributes now) {
        Optional<AddressVector> path = now.peer().path();
        if (path.isEmpty()) {
            return;
        }
        int lid = path.get().destinationLid();
        service.ways().onMigrated(of.route().remote(), lid);
        Req req = of.request();
        boolean isAsking = of.isActive()
                && of.state() == CmConnection.State.ESTABLISHED
                && req.hasAlternate()
                && now.peer().alternatePath().isEmpty(); // the program loads paths by itself
        if (isAsking) {
            CmPath left = lid == req.alternate().remoteLid() ? req.primary() : req.alternate();
            tell(() -> of.paths().ask(left, service.host().engine().nowNanos()));
        }
    }

    /// Handles, on the passive side, a path that the peer names.
    void onAsked(CmConnection of, CmPath path) {
        AddressVector way = steps.offered(path);
        if (!queuePair.isKnown() || !service.ways().canMigrate()) {
            tell(() -> of.paths().answer(Apr.NOT_SUPPORTED));
        } else if (way == null) {
            tell(() -> of.paths().answer(steps.isBetweenEnds(path) ? Apr.INVALID_LID : Apr.INVALID_GID));
        } else {
            queuePair.load(
                    QueuePairSteps.loaded(way, path),
                    isLoaded -> service.host()
                            .engine()
                            .execute(() -> tell(() -> of.paths().answer(isLoaded ? Apr.LOADED : Apr.REJECTED))));
        }
    }

    /// Handles, on the active side, whether the peer has loaded the path.
    void onAnswered(CmPath path, int status) {
        AddressVector way = steps.alternate(path, path.localLid(), path.remoteLid());
        if (status == Apr.LOADED && way != null) {
            queuePair.load(QueuePairSteps.loaded(way, path), _ -> {});
        }
    }

    private void tell(Runnable what) {
        service.cm().call(_ -> {
            what.run();
            return true;
        });
    }
}
