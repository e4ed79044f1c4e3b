package verbena.messages;

import java.util.Optional;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.jspecify.annotations.Nullable;
import verbena.messages.rail.Rail;
import verbena.messages.rail.Remote;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.PrivateData;

/// The maker of a worker's peers, for those that connect and for those that listen.
final class Peers {
    private final WorkerOptions options;
    final Traffic traffic;
    final Handlers handlers;
    private volatile @Nullable CallObserver observer;

    /// The executor of time limits.
    final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("verbena-time-limits").factory());

    Peers(Traffic traffic, Handlers handlers, WorkerOptions options) {
        this.traffic = traffic;
        this.handlers = handlers;
        this.options = options;
    }

    /// Sets the observer of the calls of peers that are made from now on.
    void observe(CallObserver by) {
        observer = by;
    }

    /// Returns whether peers may send headers from now on.
    boolean hasObserver() {
        return observer != null;
    }

    /// Returns the options of a connection over a rail.
    ConnectionOptions connection(Rail rail, PrivateData hello) {
        return rail.connection(options.parameters().withPrivateData(hello))
                .withConnectTimeout(options.connectTimeout());
    }

    /// Returns a peer that has no connection yet.
    ///
    /// @param count of the rails
    /// @param hasHeaders whether this end has told the peer that it takes calls with headers
    RemoteWorker make(Hello theirs, int count, boolean hasHeaders) {
        int places = Math.min(theirs.calls(), options.maxCalls());
        var headers = new CallHeaders(Optional.ofNullable(observer), hasHeaders && theirs.hasHeaders());
        Remote remote = traffic.remote(theirs.limits(options, count));
        var calls = new Calls(
                remote,
                traffic,
                timer,
                places,
                options.maxCallBytes(),
                (long) theirs.requestBytes() + headers.bytesMax(),
                (result, request) -> headers.observe(RemoteWorker.of(remote), result, request));
        var made = new RemoteWorker(traffic, remote, calls, theirs.requestBytes());
        remote.attach(new PeerRequests(remote, made, traffic, handlers, calls, places, options, headers), made);
        return made;
    }
}
