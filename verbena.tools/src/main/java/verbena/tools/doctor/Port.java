package verbena.tools.doctor;

import java.util.List;
import verbena.nic.link.PortOwners;
import verbena.nic.link.PortOwners.Owner;
import verbena.verbs.Gid;

/// Whether UDP port 4791 is free.
final class Port implements Check {
    private static final String SUBJECT = "UDP port 4791";

    @Override
    public List<Finding> look(Surroundings at) {
        List<Owner> owners = new PortOwners(at.root()).all();
        if (owners.isEmpty()) {
            return List.of(Finding.ok(SUBJECT, "it is free"));
        }
        return owners.stream().map(owner -> describe(owner, at)).toList();
    }

    /// Returns the reasons why others cannot have the port at `own`; empty when none is known.
    static List<Finding> holders(Gid own, Surroundings at) {
        return new PortOwners(at.root())
                .all().stream()
                        .filter(owner -> owner.isWildcard() || owner.address().equals(own))
                        .map(owner -> describe(owner, at))
                        .toList();
    }

    private static Finding describe(Owner owner, Surroundings at) {
        String subject = SUBJECT + " at " + (owner.isWildcard() ? "every address" : owner.address());
        List<String> softRoce = Hardware.softRoceDevices(at.root());
        if (owner.process().isEmpty() && owner.isWildcard() && !softRoce.isEmpty()) {
            return Finding.fail(
                    subject,
                    "the kernel's soft-RoCE has it: " + String.join(", ", softRoce),
                    "it and Verbena cannot both answer: rdma link delete " + softRoce.getFirst()
                            + ", then modprobe -r rdma_rxe; or use another network namespace");
        }
        var owners = new PortOwners(at.root());
        String who = owners.words(owner);
        String find = owner.process().isPresent() ? "" : " (find it: sudo ss -ulpn 'sport = :4791')";
        if (owner.process().isPresent() && owners.isShared(owner.address())) {
            return Finding.ok(subject, who + ", which shares it with other processes of that user");
        }
        return owner.isWildcard()
                ? Finding.fail(subject, who, "end it, or have it bind one address only" + find)
                : Finding.warn(
                        subject,
                        who,
                        "no other process can have this address; use another one, on this host one of 127.0.0.0/8"
                                + find);
    }
}
