package verbena.tools;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Standard.RunsCommand;

/// `verbena run`, as help, manual and completion know it. The start script does it: it becomes the program, which
/// starts a JVM within itself.
@Command(
        name = "run",
        header = "Run a program for libibverbs and librdmacm, unchanged, over Verbena's devices.",
        description = {
            "",
            "The program is linked to libibverbs.so.1 and librdmacm.so.1, in whatever language; no card, no kernel module"
                    + " and no root are needed."
        },
        footer = {
            "",
            "verbena run ibv_rc_pingpong -g 0 &  verbena run ibv_rc_pingpong -g 0 127.0.0.1",
            "verbena run ib_write_bw -F &        verbena run ib_write_bw -F 127.0.0.1"
        })
@SuppressWarnings("UnusedVariable") // the start script reads the options
final class RunCommand implements Callable<Integer>, RunsCommand {
    @Option(
            names = {"-d", "--device"},
            paramLabel = "NAME",
            description =
                    "Only this device, as in 'verbena devices' or rocev2@ADDRESS; may be given several times. With one,"
                            + " rdma_cm uses it too; otherwise it takes the device that has the address, and shm, when it"
                            + " is among several, to a peer on this host that has it. Without this option the program"
                            + " sees all devices but shm; its rsockets use shm where they can.")
    private List<String> devices = List.of();

    @Option(
            names = "--faults",
            paramLabel = "SPEC",
            description =
                    "With packets lost and so on, as loss:5%%,seed:7 (one device; rocev2@127.0.0.1 when none is named).")
    private String faults = "";

    @Option(
            names = "--capture",
            paramLabel = "FILE",
            description = "Record the traffic of the device as pcapng (one device, like --faults).")
    private String capture = "";

    @Option(names = "--explain", description = "Say on standard error why each call failed that failed.")
    private boolean isExplained;

    @Option(
            names = "--check",
            arity = "0..1",
            paramLabel = "OPTIONS",
            fallbackValue = "on",
            description = "Tell at the end what the program must not rely on; docs/check.md has the options.")
    private String check = "";

    @Option(
            names = "--libraries",
            description =
                    "Print the folder of the two libraries, for LD_LIBRARY_PATH, and what else to set; run nothing.")
    private boolean isPrinted;

    @Parameters(
            arity = "1..*",
            paramLabel = "PROGRAM [ARGUMENT...]",
            description = "The program, and what it is given.")
    private List<String> program = List.of();

    @Override
    public Integer call() {
        throw new CommandFailed("the start script does this: bin/verbena run, or ./verbena run where it was built");
    }
}
