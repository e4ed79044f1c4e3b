package verbena.verbs.cm;

import java.util.Optional;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SharedReceiveQueue;

/// The objects of a connection: its own, and those that the program lends.
///
/// @param shared the domain's share, when the listener's connections share it
/// @param lent by the program, so not closed here
record ConnectionParts(
        ProtectionDomain domain,
        Optional<SharedDomain> shared,
        CompletionQueue sends,
        CompletionQueue receives,
        Sharing lent) {
    /// Makes what is not lent.
    ///
    /// @param shared of the listener; the connection becomes a user of it
    static ConnectionParts of(Context context, ConnectionOptions options, Optional<SharedDomain> shared) {
        Sharing lent = options.sharing();
        Optional<SharedDomain> used = shared.map(SharedDomain::use);
        ProtectionDomain domain =
                used.map(SharedDomain::domain).or(lent::domain).orElseGet(context::allocateProtectionDomain);
        CompletionQueue sends = null;
        CompletionQueue receives = null;
        boolean done = false;
        try {
            QueuePairOptions.Sizes sizes = options.sizes();
            sends = lent.sendCompletions()
                    .orElseGet(() -> context.createCompletionQueue(Math.max(1, sizes.maxSendWr())));
            int receivable = lent.receives().map(SharedReceiveQueue::maxWr).orElse(sizes.maxReceiveWr());
            receives =
                    lent.receiveCompletions().orElseGet(() -> context.createCompletionQueue(Math.max(1, receivable)));
            done = true;
            return new ConnectionParts(domain, used, sends, receives, lent);
        } finally {
            if (!done) {
                if (sends != null && lent.sendCompletions().isEmpty()) {
                    sends.close();
                }
                closeDomain(domain, used, lent);
            }
        }
    }

    QueuePairOptions queuePair(QueuePairOptions.Sizes sizes) {
        QueuePairOptions options =
                QueuePairOptions.rc(sends).withReceiveCq(receives).withSizes(sizes);
        return lent.receives().map(options::withSharedReceiveQueue).orElse(options);
    }

    /// Returns whether it is the connection that reads the completions of sends.
    boolean ownsSends() {
        return lent.sendCompletions().isEmpty();
    }

    /// Returns whether it is the connection that posts receives and reads their completions.
    boolean ownsReceives() {
        return lent.receiveCompletions().isEmpty() && lent.receives().isEmpty();
    }

    void closeQueues() {
        if (lent.sendCompletions().isEmpty()) {
            sends.close();
        }
        if (lent.receiveCompletions().isEmpty()) {
            receives.close();
        }
    }

    void closeDomain() {
        closeDomain(domain, shared, lent);
    }

    private static void closeDomain(ProtectionDomain domain, Optional<SharedDomain> shared, Sharing lent) {
        if (shared.isPresent()) {
            shared.get().giveBack();
        } else if (lent.domain().isEmpty()) {
            domain.close();
        }
    }
}
