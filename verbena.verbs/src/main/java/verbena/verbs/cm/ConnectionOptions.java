package verbena.verbs.cm;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Preview;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SharedReceiveQueue;

/// The options of [Connection] and [ConnectionListener]. Start with [#defaults()]. Immutable. What was set cannot be
/// removed again: derive options from a common base that lacks it.
///
/// @param parameters that are agreed with the peer
/// @param sizes of the queue pair
/// @param connectTimeout longest time to make a connection, more than zero, with the wait for room in the
///     listener's backlog. Each address of a host name has this time. The device gives up earlier on a host
///     that answers nothing
/// @param requestTimeout longest time of a blocking SEND, WRITE, READ or atomic, with the wait for room, more
///     than zero. When it passes, the connection ends. Empty for no limit but the device's retries
/// @param receiveAheadBytes of each receive that the connection posts by itself, see [#withReceivesAhead(int)]; 0
///     when the program posts receives
/// @param device to use; empty for the host's memory (`shm`) where both ends are on one host and have it, else the
///     device with the right address
/// @param sharing objects of the program in place of the connection's own, all of `device`
/// @since 0.1
public record ConnectionOptions(
        ConnectionParameters parameters,
        QueuePairOptions.Sizes sizes,
        Duration connectTimeout,
        Optional<Duration> requestTimeout,
        int receiveAheadBytes,
        Optional<Context> device,
        Sharing sharing) {
    /// @throws IllegalArgumentException when two components contradict each other; the message names them
    @Preview
    public ConnectionOptions {
        Objects.requireNonNull(parameters, "parameters");
        Objects.requireNonNull(sizes, "sizes");
        if (connectTimeout.isNegative() || connectTimeout.isZero()) {
            throw new IllegalArgumentException("connectTimeout: more than zero, got " + connectTimeout);
        }
        if (requestTimeout.isPresent()
                && (requestTimeout.get().isNegative() || requestTimeout.get().isZero())) {
            throw new IllegalArgumentException("requestTimeout: more than zero, got " + requestTimeout.get());
        }
        if (receiveAheadBytes < 0) {
            throw new IllegalArgumentException("receiveAheadBytes: zero or more, got " + receiveAheadBytes);
        }
        if (receiveAheadBytes > 0 && sizes.maxReceiveWr() == 0) {
            throw new IllegalArgumentException(
                    "receiveAheadBytes: 0 with a queue pair of no receives, got " + receiveAheadBytes);
        }
        if (receiveAheadBytes > 0
                && (sharing.receiveCompletions().isPresent()
                        || sharing.receives().isPresent())) {
            throw new IllegalArgumentException("receiveAheadBytes: 0 when the program lends what receives complete in "
                    + "or are taken from, got " + receiveAheadBytes);
        }
        Context lender = sharing.device().orElse(null);
        if (device.isPresent() && lender != null && device.orElseThrow() != lender) {
            throw new IllegalArgumentException("device: that of the shared objects ("
                    + lender.device().name() + "), got "
                    + device.orElseThrow().device().name());
        }
        device = device.or(sharing::device);
    }

    /// Returns [ConnectionParameters#defaults()] with a keep-alive of 5 s; 64 sends and 64 receives with up to 4
    /// entries each; 64 bytes inline; 60 s to connect. No limit for requests, no receives ahead, nothing shared.
    public static ConnectionOptions defaults() {
        return new ConnectionOptions(
                ConnectionParameters.defaults().withKeepAlive(Duration.ofSeconds(5)),
                new QueuePairOptions.Sizes(64, 64, 4, 4, 64),
                Duration.ofSeconds(60),
                Optional.empty(),
                0,
                Optional.empty(),
                Sharing.NONE);
    }

    /// Returns these options with changed parameters: `options.withParameters(p -> p.withTrafficClass(104))`.
    /// What `change` leaves alone stays, also the keep-alive and the secret.
    public ConnectionOptions withParameters(UnaryOperator<ConnectionParameters> change) {
        return new ConnectionOptions(
                change.apply(parameters), sizes, connectTimeout, requestTimeout, receiveAheadBytes, device, sharing);
    }

    /// Returns these options with other numbers of requests that can be outstanding. A call that finds the queue pair
    /// full waits ([Connection#awaitRoom]).
    public ConnectionOptions withDepth(int maxSendWr, int maxReceiveWr) {
        return withSizes(sizes.withDepth(maxSendWr, maxReceiveWr));
    }

    /// Returns these options with another number of bytes that a request can carry in itself. The forms for arrays
    /// and text need no copy of so many bytes in registered memory.
    public ConnectionOptions withInline(int maxInlineBytes) {
        return withSizes(sizes.withInline(maxInlineBytes));
    }

    /// Returns these options with all sizes of the queue pair.
    public ConnectionOptions withSizes(QueuePairOptions.Sizes sizes) {
        return new ConnectionOptions(
                parameters, sizes, connectTimeout, requestTimeout, receiveAheadBytes, device, sharing);
    }

    /// Returns these options with another time limit for making a connection, more than zero. When it passes,
    /// connecting throws a [verbena.verbs.ConnectionException] with the reason `TIMEOUT`.
    public ConnectionOptions withConnectTimeout(Duration connectTimeout) {
        return new ConnectionOptions(
                parameters, sizes, connectTimeout, requestTimeout, receiveAheadBytes, device, sharing);
    }

    /// Returns these options with a time limit of each blocking SEND, WRITE, READ and atomic, more than zero.
    /// It includes the wait for room in the queue pair. When it passes, the connection ends with the reason
    /// `TIMEOUT`.
    public ConnectionOptions withRequestTimeout(Duration requestTimeout) {
        return new ConnectionOptions(
                parameters, sizes, connectTimeout, Optional.of(requestTimeout), receiveAheadBytes, device, sharing);
    }

    /// Returns options of connections that post receives by themselves. A connection posts as many as its queue
    /// pair holds, before it is made and again after each message. So a message finds a receive at once, and its
    /// sender never has to retry. The receiving forms copy each message out.
    ///
    /// @param maxBytes of a message, at least 1; a longer one ends the connection. The memory of a connection is
    ///     this times [QueuePairOptions.Sizes#maxReceiveWr()]
    public ConnectionOptions withReceivesAhead(int maxBytes) {
        if (maxBytes < 1) {
            throw new IllegalArgumentException("maxBytes: at least 1, got " + maxBytes);
        }
        return new ConnectionOptions(parameters, sizes, connectTimeout, requestTimeout, maxBytes, device, sharing);
    }

    /// Returns options whose connections use this device. The program closes it, after them.
    public ConnectionOptions withDevice(Context device) {
        return new ConnectionOptions(
                parameters, sizes, connectTimeout, requestTimeout, receiveAheadBytes, Optional.of(device), sharing);
    }

    /// Returns options whose connections use objects of the program. With a listener, all of its connections use
    /// them.
    public ConnectionOptions withSharing(Sharing sharing) {
        return new ConnectionOptions(
                parameters, sizes, connectTimeout, requestTimeout, receiveAheadBytes, device, sharing);
    }

    /// Returns options whose connections belong to this protection domain, so that memory that is registered there
    /// once serves them all. Every peer can then access whatever any of them may access; see [Sharing].
    public ConnectionOptions withProtectionDomain(ProtectionDomain domain) {
        return withSharing(new Sharing(
                Optional.of(domain), sharing.sendCompletions(), sharing.receiveCompletions(), sharing.receives()));
    }

    /// Returns options whose connections complete all requests in queues that the program polls; the two may be
    /// one. The program posts on [Connection#queuePair()], and a completion has the number of that queue pair. The
    /// queues need room for all requests of all these connections.
    public ConnectionOptions withCompletionQueues(CompletionQueue sends, CompletionQueue receives) {
        return withSharing(
                new Sharing(sharing.domain(), Optional.of(sends), Optional.of(receives), sharing.receives()));
    }

    /// Returns options whose connections take receives from this queue, which the program fills. Memory for
    /// receives then does not grow with the number of connections.
    public ConnectionOptions withSharedReceiveQueue(SharedReceiveQueue receives) {
        return withSharing(new Sharing(
                sharing.domain(), sharing.sendCompletions(), sharing.receiveCompletions(), Optional.of(receives)));
    }

    /// Returns these options with another silence after which the device probes the peer; zero for never
    /// ([ConnectionParameters#withKeepAlive]).
    public ConnectionOptions withKeepAlive(Duration keepAlive) {
        return withParameters(own -> own.withKeepAlive(keepAlive));
    }

    /// Returns options whose connections exist only between ends that prove that they know a secret: see
    /// [ConnectionParameters#withSecret].
    public ConnectionOptions withSecret(Secret secret) {
        return withParameters(own -> own.withSecret(secret));
    }

    /// Returns options with private data for the peer ([PrivateData] has their limits).
    public ConnectionOptions withPrivateData(PrivateData privateData) {
        return withParameters(own -> own.withPrivateData(privateData));
    }
}
