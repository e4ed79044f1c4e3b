package verbena.nic.device;

import java.util.ArrayList;
import java.util.List;
import verbena.nic.engine.Engine;
import verbena.nic.kind.DeviceLimits;
import verbena.provider.Arguments;
import verbena.provider.TargetParts;
import verbena.transport.rc.XrcQueue;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.XrcDomain;
import verbena.verbs.spi.OwnedObject;

/// An XRC domain. Its targets and its shared receive queues live on one engine, because a target takes receives from
/// each of the queues.
final class SoftXrcDomain extends OwnedObject implements XrcDomain {
    private final DeviceCore core;
    private final int number;
    private final Engine home;
    private final TargetParts parts;
    // Both are accessed under the monitor of this object.
    private final List<DeviceQueuePair> targets = new ArrayList<>();
    private final List<SoftSharedReceiveQueue.Named> queues = new ArrayList<>();

    SoftXrcDomain(DeviceCore core, int number, Engine home) {
        super("XRC domain " + number);
        this.core = core;
        this.number = number;
        this.home = home;
        madeFrom(core.root);
        boolean made = false;
        try {
            this.parts = new TargetParts(core.context);
            made = true;
        } finally {
            if (!made) {
                abandon();
            }
        }
    }

    @Override
    public Context context() {
        return core.context;
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(
            ProtectionDomain domain, CompletionQueue cq, int maxWr, int maxSge) {
        checkOpen("createSharedReceiveQueue");
        SoftProtectionDomain own = Arguments.own(
                "createSharedReceiveQueue",
                "domain",
                SoftProtectionDomain.class,
                domain,
                domain.context(),
                core.context);
        SoftCompletionQueue completions = Arguments.own(
                "createSharedReceiveQueue", "cq", SoftCompletionQueue.class, cq, cq.context(), core.context);
        Arguments.checkShared(core.context, maxWr, maxSge);
        return core.sharedReceiveQueues.take(
                "createSharedReceiveQueue", _ -> numbered(own, completions, maxWr, maxSge));
    }

    private SoftSharedReceiveQueue numbered(
            SoftProtectionDomain domain, SoftCompletionQueue completions, int maxWr, int maxSge) {
        core.placement.settle(completions, home);
        var made = new SoftSharedReceiveQueue[1];
        int found = core.xrcQueues.add((int srqNumber) -> {
            var named = new SoftSharedReceiveQueue.Named(this, srqNumber, completions, this::forget);
            var queue = new SoftSharedReceiveQueue(domain, named, maxWr, maxSge);
            made[0] = queue;
            return new XrcQueue(srqNumber, number, domain.number(), queue.queue(), completions.ring());
        });
        if (found < 0) {
            throw new ResourceLimitException(
                    "createSharedReceiveQueue", "maxSrq", DeviceLimits.SRQ_MAX, "all are in use; close some");
        }
        synchronized (this) {
            queues.add(made[0].named());
            targets.forEach(completions::attach);
        }
        return made[0];
    }

    /// Removes a queue that is being closed.
    private void forget(SoftSharedReceiveQueue.Named queue) {
        synchronized (this) {
            queues.remove(queue);
            if (queues.stream().noneMatch(other -> other.completions() == queue.completions())) {
                targets.forEach(queue.completions()::detach);
            }
        }
        home.call(() -> {
            core.xrcQueues.remove(queue.number());
            return true;
        });
    }

    @Override
    public QueuePair createTarget() {
        checkOpen("createTarget");
        SoftQueuePair target = SoftQueuePair.create(QueuePairParts.target(
                new QueuePairParts.Target(this, number, home, core.xrcQueues::get, this::forget),
                (SoftProtectionDomain) parts.domain(),
                parts.options(),
                (SoftCompletionQueue) parts.completions()));
        synchronized (this) {
            targets.add(target);
            queues.forEach(queue -> queue.completions().attach(target));
        }
        return target;
    }

    /// Removes a target that is being closed.
    private synchronized void forget(DeviceQueuePair target) {
        targets.remove(target);
        queues.forEach(queue -> queue.completions().detach(target));
    }

    @Override
    protected boolean help() {
        return core.engines.help();
    }

    @Override
    protected void release() {
        parts.close();
        core.xrcDomains.giveBack();
    }
}
