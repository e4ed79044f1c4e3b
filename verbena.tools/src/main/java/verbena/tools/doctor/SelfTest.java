package verbena.tools.doctor;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.roce.RoceV2Provider;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.GidEntry;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.VerbsException;
import verbena.verbs.WorkCompletion;
import verbena.wire.psp.PspHeader;

/// A test that opens a device at each address, and makes it WRITE to itself through its sockets: a packet of the
/// path MTU.
final class SelfTest implements Check {
    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    @Override
    public List<Finding> look(Surroundings at) {
        var findings = new ArrayList<Finding>();
        for (HostInterface one : at.interfaces()) {
            if (one.loopback()) {
                findings.add(test(at, "rocev2"));
            } else if (one.up()) {
                for (GidEntry entry : one.gids()) {
                    findings.add(test(at, "rocev2@" + entry.gid()));
                }
            }
        }
        return findings;
    }

    private static Finding test(Surroundings at, String device) {
        try (Context context = at.open(device)) {
            return roundTrip(
                    device,
                    context,
                    "a firewall on this host that drops UDP port 4791? (nft list ruleset, iptables -L)");
        } catch (VerbsException e) {
            return Finding.fail(device, String.valueOf(e.getMessage()), "see UDP port 4791 and the interface above");
        } catch (IllegalArgumentException e) { // of VERBENA_PSP or verbena.psp
            return Finding.fail(device, String.valueOf(e.getMessage()), "see docs/security.md");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Finding.warn(device, "interrupted", "try again");
        }
    }

    /// Makes a device WRITE to itself.
    ///
    /// @param remedy when that fails
    static Finding roundTrip(String device, Context context, String remedy) throws InterruptedException {
        int bytes = context.port(1).activeMtu().bytes();
        try (ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(4);
                QueuePair here = domain.createQueuePair(QueuePairOptions.rc(completions));
                QueuePair there = domain.createQueuePair(QueuePairOptions.rc(completions));
                MemoryRegion from = domain.allocate(bytes, Access.local());
                MemoryRegion to = domain.allocate(bytes, Access.remoteAll())) {
            here.connect(there.endpoint());
            there.connect(here.endpoint());
            from.segment().fill((byte) 0x5A);
            here.postWrite(1, from.slice(0, bytes), to.remote());
            var done = new WorkCompletion();
            String failure = !completions.await(done, TIMEOUT)
                    ? "nothing came back within " + TIMEOUT.toSeconds() + " s"
                    : !done.ok()
                            ? String.valueOf(done)
                            : MemorySegment.mismatch(from.segment(), 0, bytes, to.segment(), 0, bytes) >= 0
                                    ? "the bytes that arrived are not those that were sent"
                                    : "";
            return failure.isEmpty()
                    ? Finding.ok(
                            device, "opens; a WRITE of " + bytes + " bytes to itself arrived" + encryption(context))
                    : Finding.fail(device, "opens, but a WRITE to itself failed: " + failure, remedy);
        }
    }

    private static String encryption(Context context) {
        if (context.counters().getOrDefault("psp.peers.now", 0L) == 0) {
            return "";
        }
        boolean isOwnPort = context.counters().getOrDefault("psp.port.now", 0L) == PspHeader.UDP_PORT;
        return "; its packets are encrypted (psp, "
                + (isOwnPort ? "UDP port " + PspHeader.UDP_PORT : RoceV2Provider.pspPort()) + ")";
    }
}
