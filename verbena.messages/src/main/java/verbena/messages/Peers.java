package verbena.messages;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import verbena.messages.rail.Rail;
import verbena.messages.rail.Remote;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.PrivateData;

/// The maker of a worker's peers, for those that connect and for those that listen.
final class Peers {
    private final WorkerOptions options;
    final Traffic traffic;
    final Handlers handlers;
    /// The executor of time limits.
    final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("verbena-time-limits").factory());

    Peers(Traffic traffic, Handlers handlers, WorkerOptions options) {
        this.traffic = traffic;
        this.handlers = handlers;
        this.options = options;
    }

    /// Returns the options of a connection over a rail.
    ConnectionOptions connection(Rail rail, PrivateData hello) {
        return rail.connection(hello).withTimeout(options.timeout()).withSecret(options.secret());
    }

    /// Returns a peer that has no connection yet.
    ///
    /// @param count of the rails
    RemoteWorker make(Hello theirs, int count) {
        int places = Math.min(theirs.calls(), options.maxCalls());
        Remote remote = traffic.remote(theirs.limits(options, count));
        var calls = new Calls(remote, traffic, timer, places, options.maxCallBytes(), theirs.requestBytes());
        var made = new RemoteWorker(traffic, remote, calls, theirs.requestBytes());
        remote.attach(new PeerRequests(remote, made, traffic, handlers, calls, places, options), made);
        return made;
    }
}
