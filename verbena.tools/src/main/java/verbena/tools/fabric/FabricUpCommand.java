package verbena.tools.fabric;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.nic.fabric.FabricServer;
import verbena.nic.fabric.FabricSocket;
import verbena.nic.link.LinkException;
import verbena.subnet.agent.SubnetRight;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.fabric.FabricNode;
import verbena.subnet.fabric.Switch;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.topology.Topology;
import verbena.subnet.topology.TopologyException;
import verbena.subnet.topology.TopologyText;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;

/// `verbena fabric up`: runs a fabric until Ctrl-C, or `verbena fabric down`.
@Command(
        name = "up",
        header = "Run the fabric of a topology file, until Ctrl-C or 'verbena fabric down'.",
        description = {
            "",
            "The file has a line for each node and each cable: 'switch NAME [PORTS]', 'hca NAME' and 'link A[:PORT]"
                    + " B[:PORT]'; what ibnetdiscover prints is read too. The adapters are the devices ib0, ib1 and so on"
                    + " of this user's processes, in the order of the file."
        })
public final class FabricUpCommand extends ToolCommand {
    private static final int PRIORITY_MAX = 15;
    private static final int LMC_MAX = 7;
    /// The distance between the transaction numbers of two managers.
    private static final long TRANSACTIONS = 1L << 40;

    @Parameters(index = "0", paramLabel = "TOPOLOGY", description = "The file.")
    private Path file;

    @Option(
            names = "--manager",
            paramLabel = "NODE[:PRIORITY]",
            description = "Put a subnet manager at this node instead of the first adapter; with several, the one with"
                    + " the highest priority (0 to 15) is the master, and another takes over when it is lost.")
    private List<String> managers = List.of();

    @Option(
            names = "--partition",
            paramLabel = "PKEY=NODE[:limited],...",
            description =
                    "Make a partition of these adapters, for the manager to enforce. A limited member reaches full"
                            + " ones only; 'all' stands for those that are not named. Partition 0x7fff is the default one, of"
                            + " which all are full members unless this says otherwise.")
    private List<String> partitions = List.of();

    @Option(
            names = "--lmc",
            paramLabel = "BITS",
            defaultValue = "0",
            description =
                    "Give each adapter two to this many LIDs, whose routes differ where there are several: 0 to 7."
                            + " Default: ${DEFAULT-VALUE}.")
    private int lmc;

    @Option(
            names = "--no-manager",
            description = "Run no subnet manager: ports stay in INIT until one of another process comes.")
    private boolean isUnmanaged;

    @Option(
            names = "--capture",
            paramLabel = "FILE",
            description =
                    "Write the packets of all cables, management included, to a pcapng file for Wireshark, up to 1 GiB.")
    private @Nullable Path capture;

    @Option(
            names = "--qp0",
            paramLabel = "RIGHT",
            defaultValue = "all",
            description = "What C programs (verbena run) may do at queue pair 0: 'all' (a subnet manager may be one of"
                    + " them), 'ask' (only Get), or 'none'. Default: ${DEFAULT-VALUE}.")
    private String right = "all";

    @Override
    public Integer call() throws IOException, InterruptedException {
        var fabric = new Fabric(topology(), System.nanoTime());
        fabric.allow(right());
        if (capture == null) {
            return run(fabric);
        }
        FabricCapture captured;
        try {
            captured = new FabricCapture(fabric, capture);
        } catch (IOException e) {
            throw CommandFailed.io("capture to " + capture, e);
        }
        try (captured) {
            return run(fabric);
        } finally {
            print(captured.summary());
        }
    }

    private int run(Fabric fabric) throws InterruptedException {
        manage(fabric);
        try (var server = new FabricServer(FabricSocket.place(), fabric, routes -> FabricText.of(fabric, routes))) {
            var runner = new Thread(server::run, "verbena-fabric");
            runner.start();
            print("fabric of " + fabric.switches().size() + " switches, "
                    + fabric.adapters().size() + " adapters at " + FabricSocket.place());
            try {
                runner.join();
            } catch (InterruptedException e) {
                server.stop();
                runner.join();
                throw e;
            }
        } catch (LinkException e) {
            throw new CommandFailed("fabric: " + e.getMessage(), e);
        }
        return 0;
    }

    private SubnetRight right() {
        return switch (right) {
            case "all" -> SubnetRight.ALL;
            case "ask" -> SubnetRight.ASK;
            case "none" -> SubnetRight.NONE;
            default -> throw wrong("--qp0: all, ask or none, got " + right);
        };
    }

    private void manage(Fabric fabric) {
        if (isUnmanaged && !managers.isEmpty()) {
            throw wrong("--manager and --no-manager: one of them");
        }
        var ends = new ArrayList<NodeName>();
        managers.forEach(text -> ends.add(NodeName.of(text, this)));
        if (!isUnmanaged && ends.isEmpty()) {
            fabric.nodes().stream()
                    .min(Comparator.comparing(node -> node instanceof Switch)) // adapters first
                    .ifPresent(node -> ends.add(new NodeName(node.name(), 0)));
        }
        range("--lmc", lmc, 0, LMC_MAX);
        ManagerOptions options =
                ManagerOptions.DEFAULT.withLmc(lmc).withPartitions(PartitionText.read(partitions, fabric, this));
        long transactions = 0;
        for (NodeName end : ends) {
            range("--manager: priority", end.number(), 0, PRIORITY_MAX);
            FabricNode node = fabric.nodes().stream()
                    .filter(one -> one.name().equals(end.name()))
                    .findFirst()
                    .orElseThrow(() -> wrong("--manager: there is no node " + end.name()));
            transactions += TRANSACTIONS;
            fabric.manage(node, options.withPriority(end.number()), transactions);
        }
    }

    private Topology topology() {
        try {
            return TopologyText.parse(Files.readString(file));
        } catch (IOException e) {
            throw CommandFailed.io("read " + file, e);
        } catch (TopologyException e) {
            throw new CommandFailed(file + ", " + e.getMessage(), e);
        }
    }
}
