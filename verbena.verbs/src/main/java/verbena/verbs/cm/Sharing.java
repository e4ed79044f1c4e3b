package verbena.verbs.cm;

import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Preview;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.SharedReceiveQueue;

/// Objects of the program that a [Connection] uses in place of its own. All are of one device, which is the
/// connection's too. The program closes them after the last connection that uses them. Immutable.
///
/// Programs name them one by one: [ConnectionOptions#withProtectionDomain],
/// [ConnectionOptions#withCompletionQueues] and [ConnectionOptions#withSharedReceiveQueue]. Those methods of the
/// connection that need a lent queue throw [verbena.verbs.InvalidStateException]: with lent send completions
/// [Connection#send], [Connection#write], [Connection#read] and the atomics, with lent receive completions or
/// receives [Connection#receive].
///
/// A shared domain gives up a boundary. Each peer of its connections reaches each region of the domain whose key it
/// knows or guesses, with the region's rights. Give separate domains to peers that must not access the same memory.
///
/// @param domain of the connection's memory; empty for one of its own
/// @param sendCompletions where its sends, writes, reads and atomics complete; empty for a queue of its own. The
///     program polls a shared one, so it posts such requests on [Connection#queuePair()]
/// @param receiveCompletions where its receives complete, likewise
/// @param receives that its receives come from; empty for the queue pair's own. The program posts them
/// @since 0.1
public record Sharing(
        Optional<ProtectionDomain> domain,
        Optional<CompletionQueue> sendCompletions,
        Optional<CompletionQueue> receiveCompletions,
        Optional<SharedReceiveQueue> receives) {
    /// A connection with objects of its own only.
    public static final Sharing NONE =
            new Sharing(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    /// @throws IllegalArgumentException when two are of different devices
    @Preview
    public Sharing {
        Objects.requireNonNull(domain, "domain");
        Objects.requireNonNull(sendCompletions, "sendCompletions");
        Objects.requireNonNull(receiveCompletions, "receiveCompletions");
        Objects.requireNonNull(receives, "receives");
        var devices = contexts(domain, sendCompletions, receiveCompletions, receives)
                .distinct()
                .toList();
        if (devices.size() > 1) {
            throw new IllegalArgumentException("sharing: objects of one device, got those of "
                    + devices.stream().map(each -> each.device().name()).toList());
        }
    }

    private static Stream<Context> contexts(
            Optional<ProtectionDomain> domain,
            Optional<CompletionQueue> sendCompletions,
            Optional<CompletionQueue> receiveCompletions,
            Optional<SharedReceiveQueue> receives) {
        return Stream.of(
                        domain.map(ProtectionDomain::context),
                        sendCompletions.map(CompletionQueue::context),
                        receiveCompletions.map(CompletionQueue::context),
                        receives.map(each -> each.protectionDomain().context()))
                .flatMap(Optional::stream);
    }

    /// Returns the device of them all; empty when there are none.
    Optional<Context> device() {
        return contexts(domain, sendCompletions, receiveCompletions, receives).findFirst();
    }
}
