package verbena.lab;

import static verbena.lab.Command.inGuest;
import static verbena.lab.Command.ours;
import static verbena.lab.Command.theirs;
import static verbena.lab.Lab.IWARP_OURS4;
import static verbena.lab.Lab.IWARP_OURS6;
import static verbena.lab.Lab.IWARP_THEIRS4;
import static verbena.lab.Lab.IWARP_THEIRS6;
import static verbena.lab.Lab.OURS4;
import static verbena.lab.Lab.OURS6;
import static verbena.lab.Lab.THEIRS4;
import static verbena.lab.Lab.THEIRS6;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Every check, in the order in which they run.
final class Table {
    private static final List<String> VERBS = List.of("send", "write", "read", "atomic");
    private static final int CM_SECONDS = 30;
    private static final int PERF_SECONDS = 40;
    private static final int GUEST_SECONDS = 60;
    private static final int DATAGRAM_ATTEMPTS = 3;
    /// The ports of the C programs' servers: pingpong and perftest, udpong, rping over iWARP.
    private static final int PERFTEST_PORT = 18515;

    private static final int UDPONG_PORT = 7174;
    private static final int RPING_PORT = 7174;

    /// The least number of programs and cures that a device of the kernel runs: siw has neither FLUSH nor atomics nor
    /// immediate data.
    private static final int LITMUS_PROGRAMS = 34;
    private static final int LITMUS_RUNS = 10;
    private static final int LITMUS_SECONDS = 500;
    private static final Pattern LITMUS_SUM =
            Pattern.compile(".*: ([0-9]+) of [0-9]+ programs and cures ran; .*, and 0 that it may not");

    private final List<Check> rows = new ArrayList<>();

    private Table() {}

    static List<Check> checks() {
        var table = new Table();
        table.connectionManager();
        table.perf();
        table.iwarp();
        table.kernelDevices();
        table.programsOverOurLibraries();
        table.pingpong();
        table.rawEthernet();
        table.loss();
        for (String device : List.of(
                "rocev2@" + OURS4,
                "rocev2@" + OURS6,
                "rocev2@" + OURS4 + ",link=portable",
                "rocev2@" + OURS4 + ",link=raw",
                "rocev2@" + OURS6 + ",link=raw",
                "rocev2@" + OURS4 + ",link=xdp",
                "rocev2@" + OURS6 + ",link=xdp")) {
            table.add(Check.of(
                    "every operation and error, both ways, " + device,
                    new JUnitInside(device, "SoftRoce*Test", false)));
        }
        return List.copyOf(table.rows);
    }

    /// Returns whether a name has the pattern, in which `*` and `?` stand for any text and any character.
    static Predicate<String> matching(String pattern) {
        String expression = Pattern.quote(pattern).replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q");
        return Pattern.compile(expression).asPredicate();
    }

    /// Returns one of some equal parts of the checks, each part with some of every kind. Checks in a row under the same
    /// weather other than fair stay together: the last of them judges what the others have lost.
    static List<Check> share(int share, int shares) {
        var drawn = new ArrayList<Check>();
        int group = -1;
        Weather before = Weather.FAIR;
        for (Check check : checks()) {
            if (check.weather() == Weather.FAIR || check.weather() != before) {
                group++;
            }
            before = check.weather();
            if (group % shares == share) {
                drawn.add(check);
            }
        }
        return drawn;
    }

    private void add(Check row) {
        rows.add(row);
    }

    // ---- connections by address and port: librdmacm's programs at the other end

    private Check cmConnect(String name, String server, String client) {
        return Check.of(
                "cm, we connect: " + name, new ServerAndClient(theirs(CM_SECONDS, server), Ready.CM_ID, ours(client)));
    }

    private Check cmServe(String name, String server, String client) {
        return Check.of(
                "cm, we serve: " + name, new ServerAndClient(ours(server), Ready.SAYS_SO, theirs(CM_SECONDS, client)));
    }

    private void connectionManager() {
        everyProgram("IPv4", THEIRS4, OURS4);
        everyProgram("IPv6", THEIRS6, OURS6);
        add(cmConnect(
                "rping, own queue pairs", "rping -s -q -a " + THEIRS4, "rping -c -q -a " + THEIRS4 + " -C 10 -V"));
        add(cmServe("rping, own queue pairs", "rping -s -q -a " + OURS4, "rping -c -q -a " + OURS4 + " -C 10 -V"));
        add(cmConnect("mckey", "mckey -m 239.77.1.1 -b " + THEIRS4, "mckey -s --pause 1 -m 239.77.1.1 -b " + OURS4));
        add(cmServe("mckey", "mckey -m 239.77.1.1 -b " + OURS4, "mckey -s -m 239.77.1.1 -b " + THEIRS4));
        add(cmConnect("rdma_xserver", "rdma_xserver -p 7474", "xclient -s " + THEIRS4 + " -p 7474"));
        add(cmServe("rdma_xclient, every address", "xserver -p 7474", "rdma_xclient -s " + OURS4 + " -p 7474"));
        endings();
        add(refused(
                "the doctor finds that no program listens",
                ours("doctor " + THEIRS4 + ":7996"),
                1,
                "FAIL  port 7996: no program listens there"));
        add(refused(
                "the doctor finds no host at an address", ours("doctor --timeout 1 10.77.0.99"), 1, "FAIL  peer: "));
        add(Check.of("cm: the doctor sees a listener and does not disturb it", Endings::doctor));
    }

    private void everyProgram(String family, String theirs, String ours) {
        add(cmConnect("rping, " + family, "rping -s -a " + theirs + " -v", "rping -c -a " + theirs + " -C 10 -v -V"));
        add(cmServe("rping, " + family, "rping -s -a " + ours + " -v", "rping -c -a " + ours + " -C 10 -v -V"));
        add(cmConnect(
                "ucmatose, " + family,
                "ucmatose -b " + theirs + " -c 3 -S 9001",
                "ucmatose -s " + theirs + " -c 3 -S 9001"));
        add(cmServe(
                "ucmatose, " + family,
                "ucmatose -b " + ours + " -c 3 -S 9001",
                "ucmatose -s " + ours + " -c 3 -S 9001"));
        add(cmConnect("udaddy, " + family, "udaddy -b " + theirs + " -c 3", "udaddy -s " + theirs + " -c 3"));
        add(cmServe("udaddy, " + family, "udaddy -b " + ours + " -c 3", "udaddy -s " + ours + " -c 3"));
        add(cmConnect(
                "rdma_server, " + family,
                "rdma_server -s " + theirs + " -p 7475",
                "xclient --answer -s " + theirs + " -p 7475"));
        add(cmServe(
                "rdma_client, " + family,
                "xserver --answer -s " + ours + " -p 7475",
                "rdma_client -s " + ours + " -p 7475"));
    }

    private static Check refused(String name, Command command, int status, String words) {
        return Check.of("cm: " + name, ServerAndClient.alone(command, status, Pattern.quote(words)));
    }

    private void endings() {
        add(refused(
                "no program listens there, we are told",
                ours("ucmatose -s " + THEIRS4 + " -p 7999"),
                8,
                "error 8: no program listens at " + THEIRS4 + " port 7999"));
        add(refused(
                "no program takes datagrams there, we are told",
                ours("udaddy -s " + THEIRS4 + " --port 7999"),
                1,
                "RDMA_CM_EVENT_UNREACHABLE, error: 1"));
        add(refused(
                "an address that no host has",
                ours("rping -c -a 10.77.0.99 --timeout 2 -C 1"),
                255,
                "nothing heard for 2 s"));
        // Ours listens at one port, they ask at another; then twice where there is room for one.
        Command server = ours("ucmatose -b " + OURS4 + " -p 7998 -c 1 --timeout 4");
        add(Check.of(
                "cm: no program listens here, they are told",
                new ServerAndClient(server, Ready.SAYS_SO, theirs(20, "ucmatose -s " + OURS4 + " -p 7999"))
                        .whoseClientEnds(8, "RDMA_CM_EVENT_REJECTED, error: 8")));
        add(Check.of(
                "cm: one too many, they are told",
                new ServerAndClient(server, Ready.SAYS_SO, theirs(20, "ucmatose -s " + OURS4 + " -p 7998 -c 2"))
                        .whoseClientEnds(28, "RDMA_CM_EVENT_REJECTED, error: 28")));
        add(Check.of("cm: a server killed in the handshake", Endings::serverKilledInTheHandshake));
        add(Check.of(
                "cm: a server killed while we ping",
                Endings.serverKilledWhileWePing(
                        "rping -s -a " + THEIRS4 + " -p 7996",
                        "rping -c -a " + THEIRS4 + " -p 7996 -v",
                        "the connection ended within ping|cq completion failed")));
        add(Check.of("cm: a client killed while it pings us", Endings::clientKilledWhileItPingsUs));
    }

    // ---- perf: perftest at the other end. Rates mean nothing here; -F keeps the C programs from failing for
    // the clock of a guest.

    private void perf() {
        for (String verb : VERBS) {
            for (String kind : List.of("bw", "lat")) {
                perfBoth(verb + "-" + kind, verb + "-" + kind, "-n 50");
                perfBoth(verb + "-" + kind + " -R", verb + "-" + kind, "-n 50 -R");
            }
        }
        // Each option from one end or from both, as it matters.
        perfConnect("all sizes", "write-bw", "-n 5 -a");
        perfBoth("both ends send, write-bw", "write-bw", "-n 20 -b");
        perfBoth("both ends send, send-bw", "send-bw", "-n 20 -b");
        perfConnect("both ends send, read-bw", "read-bw", "-n 20 -b");
        perfConnect("four queue pairs", "write-bw", "-n 20 -q 4");
        perfServe("four queue pairs -R", "send-bw", "-n 20 -q 4 -R");
        perfServe("lists of requests", "send-bw", "-n 20 -s 64 -l 4");
        perfConnect("events", "send-bw", "-n 20 -e");
        perfConnect("events, read-lat", "read-lat", "-n 20 -e");
        perfConnect("two seconds", "write-bw", "-D 2");
        perfServe("a second, send-lat", "send-lat", "-D 1");
        perfServe("UC", "write-bw", "-n 20 -c UC");
        perfConnect("UC, send-lat", "send-lat", "-n 20 -c UC");
        perfBoth("UD", "send-bw", "-n 20 -c UD -s 1024");
        perfConnect("UD, send-lat", "send-lat", "-n 20 -c UD");
        perfBoth("UD, send-lat -R", "send-lat", "-n 20 -c UD -R");
        perfConnect("gigabits", "write-bw", "-n 20 --report_gbits");
        perfServe("CMP_AND_SWAP", "atomic-bw", "-n 20 -A CMP_AND_SWAP");
        perfConnect("path MTU 1024", "read-bw", "-n 20 -m 1024");
    }

    private void perfBoth(String name, String test, String options) {
        perfConnect(name, test, options);
        perfServe(name, test, options);
    }

    private void perfConnect(String name, String test, String options) {
        add(Check.of(
                        "perf, we connect: " + name,
                        new ServerAndClient(
                                theirs(PERF_SECONDS, theirTest(test, options)),
                                options.contains("-R") ? Ready.CM_ID : Ready.guestListens(),
                                ours("perf " + test + " --warm-up 0 -p PORT " + options + " " + THEIRS4)))
                .withAttempts(perfAttempts(options)));
    }

    private void perfServe(String name, String test, String options) {
        add(Check.of(
                        "perf, we serve: " + name,
                        new ServerAndClient(
                                ours("perf " + test + " --warm-up 0 --source_ip " + OURS4 + " -p PORT " + options),
                                Ready.SAYS_SO,
                                theirs(PERF_SECONDS, theirTest(test, options) + " " + OURS4)))
                .withAttempts(perfAttempts(options)));
    }

    private static String theirTest(String test, String options) {
        String gid = options.contains("-R") ? "" : "-x 1 "; // with -R the address says it
        return "ib_" + test.replace('-', '_') + " -F -d rxe0 " + gid + "-p PORT " + options;
    }

    private static int perfAttempts(String options) {
        return options.matches(".* (UC|UD)( .*)?") ? DATAGRAM_ATTEMPTS : 1;
    }

    // ---- frames of our own making: a packet socket, and AF_XDP

    private void rawEthernet() {
        for (String link : List.of("raw", "xdp")) {
            rawEthernet("IPv4, link=" + link, "rocev2@" + OURS4 + ",link=" + link, THEIRS4, OURS4);
            rawEthernet("IPv6, link=" + link, "rocev2@" + OURS6 + ",link=" + link, THEIRS6, OURS6);
        }
    }

    private void rawEthernet(String name, String device, String theirs, String ours) {
        String option = " --device " + device;
        add(cmConnect("rping, " + name, "rping -s -a " + theirs, "rping -c -a " + theirs + " -C 10 -V" + option));
        add(cmServe("rping, " + name, "rping -s -V -a " + ours + option, "rping -c -a " + ours + " -C 10 -V"));
        add(cmConnect("udaddy, " + name, "udaddy -b " + theirs + " -c 3", "udaddy -s " + theirs + " -c 3" + option));
        add(cmServe("udaddy, " + name, "udaddy -b " + ours + " -c 3" + option, "udaddy -s " + ours + " -c 3"));
        if (ours.equals(OURS4)) {
            for (String verb : List.of("write", "read", "send")) {
                add(Check.of(
                        "perf, we connect: " + verb + ", " + name,
                        new ServerAndClient(
                                theirs(PERF_SECONDS, theirTest(verb + "-bw", "-n 50")),
                                Ready.guestListens(),
                                ours("perf " + verb + "-bw --warm-up 0 -p PORT -n 50 -d " + device + " " + theirs))));
                add(Check.of(
                        "perf, we serve: " + verb + ", " + name,
                        new ServerAndClient(
                                ours("perf " + verb + "-bw --warm-up 0 -p PORT -n 50 -d " + device),
                                Ready.SAYS_SO,
                                theirs(PERF_SECONDS, theirTest(verb + "-bw", "-n 50") + " " + ours))));
            }
        }
    }

    // ---- iWARP: the kernel's soft-iWARP (siw). Both sides' CRC: on with ours, off only when neither wants it; siw's
    // peer-to-peer mode is off unless switched on.

    private void iwarp() {
        for (String crc : List.of("", ",crc=off")) {
            String words = crc.isEmpty() ? "CRC" : "no CRC";
            iwarpPrograms("IPv4, " + words, IWARP_THEIRS4, IWARP_OURS4, crc);
            iwarpPrograms("IPv6, " + words, IWARP_THEIRS6, IWARP_OURS6, crc);
        }
        for (String crc : List.of("", ",crc=off")) {
            for (String test : List.of("write_bw", "read_bw", "send_bw", "write_lat", "send_lat")) {
                iwarpPerf(test, crc.isEmpty() ? "CRC" : "no CRC", "iwarp@" + IWARP_OURS4 + crc);
            }
        }
        String device = "--device iwarp@" + IWARP_OURS4;
        add(cmConnect(
                        "iwarp rping, siw is peer to peer",
                        "rping -s -a " + IWARP_THEIRS4,
                        "rping " + device + " -c -a " + IWARP_THEIRS4 + " -C 10 -V")
                .in(Weather.SIW_PEER_TO_PEER));
        add(cmServe(
                        "iwarp rping, siw is peer to peer",
                        "rping -s " + device + " -a " + IWARP_OURS4,
                        "rping -c -a " + IWARP_OURS4 + " -C 10 -V")
                .in(Weather.SIW_PEER_TO_PEER));
        add(cmServe(
                        "iwarp rping, siw wants CRC",
                        "rping -s " + device + ",crc=off -a " + IWARP_OURS4,
                        "rping -c -a " + IWARP_OURS4 + " -C 10 -V")
                .in(Weather.SIW_WANTS_CRC));
        add(refused(
                "iwarp, no program listens there, we are told",
                ours("ucmatose " + device + " -s " + IWARP_THEIRS4 + " -p 7999"),
                8,
                "error 8: no program listens at " + IWARP_THEIRS4 + " port 7999"));
        add(Check.of(
                "iwarp: a server killed while we ping",
                Endings.serverKilledWhileWePing(
                        "rping -s -a " + IWARP_THEIRS4 + " -p 7996",
                        "rping " + device + " -c -a " + IWARP_THEIRS4 + " -p 7996 -v",
                        "")));
    }

    private void iwarpPrograms(String words, String theirs, String ours, String crc) {
        String device = "--device iwarp@" + ours + crc;
        add(cmConnect(
                "iwarp rping, " + words,
                "rping -s -a " + theirs + " -v",
                "rping " + device + " -c -a " + theirs + " -C 10 -v -V"));
        add(cmServe(
                "iwarp rping, " + words,
                "rping -s " + device + " -a " + ours + " -v",
                "rping -c -a " + ours + " -C 10 -v -V"));
        add(cmConnect(
                "iwarp rdma_server, " + words,
                "rdma_server -s " + theirs + " -p 7475",
                "xclient " + device + " --answer -s " + theirs + " -p 7475"));
        add(cmServe(
                "iwarp rdma_client, " + words,
                "xserver " + device + " --answer -s " + ours + " -p 7475",
                "rdma_client -s " + ours + " -p 7475"));
    }

    /// Adds perftest over the connection manager. ib_send_bw sends so many messages that the server has to give
    /// credits (docs/tools.md). It goes over IPv4: started like this, the C server does not listen at IPv6
    /// addresses.
    private void iwarpPerf(String test, String words, String device) {
        String options = "-R -n " + (test.equals("send_bw") ? 2000 : 5) + " -s 4096 -p PORT";
        String command = "perf " + test.replace('_', '-');
        String their = "ib_" + test + " -d siw0 " + options + " -F";
        add(Check.of(
                "iwarp we connect: " + test + ", " + words,
                new ServerAndClient(
                        theirs(GUEST_SECONDS, their),
                        Ready.guestListens(),
                        ours(command + " --warm-up 0 -d " + device + " " + options + " " + IWARP_THEIRS4))));
        add(Check.of(
                "iwarp we serve: " + test + ", " + words,
                new ServerAndClient(
                        ours(command + " -d " + device + " " + options),
                        Ready.weListen(),
                        theirs(GUEST_SECONDS, their + " " + IWARP_OURS4))));
    }

    // ---- Verbena in the guest, over the kernel's devices by libibverbs (rxe0, siw0): with Verbena in software
    // across the bridge, and with a C program beside it in the guest

    private void kernelDevices() {
        conforms("rxe0");
        conforms("siw0");
        litmus("rxe0");
        litmus("siw0");
        String iwarp = "--device iwarp@" + IWARP_OURS4;
        itConnects(
                "rping, rxe0",
                "rping -s -a " + OURS4 + " -p 7181",
                "rping -c -a " + OURS4 + " -p 7181 --device rxe0 -C 10 -V");
        itServes(
                "rping, rxe0",
                "rping -s -a " + THEIRS4 + " -p 7182 --device rxe0",
                "rping -c -a " + THEIRS4 + " -p 7182 -C 10 -V");
        withC(
                "rping, rxe0",
                "rping -s -a " + THEIRS4 + " -p 7183",
                "rping -c -a " + THEIRS4 + " -p 7183 --device rxe0 -C 10 -V");
        itConnects(
                "udaddy, rxe0",
                "udaddy -b " + OURS4 + " -c 3 --port 7184",
                "udaddy -s " + OURS4 + " -c 3 --port 7184 --device rxe0");
        itConnects(
                "rping, siw0",
                "rping -s " + iwarp + " -a " + IWARP_OURS4 + " -p 7185",
                "rping -c -a " + IWARP_OURS4 + " -p 7185 --device siw0 -C 10 -V");
        itServes(
                "rping, siw0",
                "rping -s -a " + IWARP_THEIRS4 + " -p 7186 --device siw0",
                "rping " + iwarp + " -c -a " + IWARP_THEIRS4 + " -p 7186 -C 10 -V");
        withC(
                "rping, siw0",
                "rping -s -a " + IWARP_THEIRS4 + " -p 7187",
                "rping -c -a " + IWARP_THEIRS4 + " -p 7187 --device siw0 -C 10 -V");
        withC(
                "ucmatose, the device by its address",
                "ucmatose -b " + THEIRS4 + " -p 7188 -c 3 -S 9001",
                "ucmatose -s " + THEIRS4 + " -p 7188 -c 3 -S 9001");
    }

    /// Adds the check of the promises of the verbs, over a device of the kernel; both ends are in the guest.
    private void conforms(String device) {
        Command command = inGuest(500, "conform " + device);
        add(Check.of("conform, " + device, attempt -> {
            Running it = attempt.start(command);
            int status = it.await(command.seconds() + 15);
            it.lines().reversed().stream().limit(1).forEach(attempt::note);
            if (status != 0) {
                throw new AssertionError("it ended with " + status);
            }
        }));
    }

    /// Adds the check that a device of the kernel shows no outcome of a litmus test that the model forbids.
    private void litmus(String device) {
        Command command = inGuest(LITMUS_SECONDS, "check litmus all --runs " + LITMUS_RUNS + " -d " + device);
        add(Check.of("litmus, " + device, attempt -> {
            Running it = attempt.start(command);
            int status = it.await(command.seconds() + 15);
            String sum = it.lines().isEmpty() ? "" : it.lines().getLast();
            attempt.note(sum);
            Matcher figures = LITMUS_SUM.matcher(sum);
            if (status != 0 || !figures.matches() || Integer.parseInt(figures.group(1)) < LITMUS_PROGRAMS) {
                throw new AssertionError("it ended with " + status);
            }
        }));
    }

    private void itConnects(String name, String server, String client) {
        add(Check.of(
                "ibverbs, it connects: " + name,
                new ServerAndClient(ours(server), Ready.SAYS_SO, inGuest(GUEST_SECONDS, client))));
    }

    private void itServes(String name, String server, String client) {
        add(Check.of(
                "ibverbs, it serves: " + name,
                new ServerAndClient(inGuest(GUEST_SECONDS, server), Ready.SAYS_SO, ours(client))));
    }

    private void withC(String name, String server, String client) {
        add(Check.of(
                "ibverbs, with C: " + name,
                new ServerAndClient(theirs(GUEST_SECONDS, server), Ready.CM_ID, inGuest(GUEST_SECONDS, client))));
    }

    // ---- the same programs on both sides: ours over our libraries (`verbena run`)

    private void programsOverOurLibraries() {
        abiConnect("rping", "rping -s -a " + THEIRS4 + " -C 10", "rping -c -a " + THEIRS4 + " -C 10 -V");
        abiServe("rping", Ready.OUR_DEVICE, "rping -s -a " + OURS4 + " -C 10 -V", "rping -c -a " + OURS4 + " -C 10");
        abiConnect("ucmatose", "ucmatose -b " + THEIRS4 + " -c 3 -S 9001", "ucmatose -s " + THEIRS4 + " -c 3 -S 9001");
        abiServe("udaddy", Ready.OUR_DEVICE, "udaddy -b " + OURS4 + " -c 3", "udaddy -s " + OURS4 + " -c 3");
        abiPingpong("ibv_rc_pingpong", "ibv_rc_pingpong", "-n 200 -c");
        abiPingpong("ibv_srq_pingpong, events", "ibv_srq_pingpong", "-n 200 -e");
        abiPingpong("ibv_ud_pingpong", "ibv_ud_pingpong", "-n 200 -s 1024");
        String device = "-d rocev2@" + OURS4 + " ";
        for (String verb : VERBS) {
            for (String kind : List.of("bw", "lat")) {
                String test = "ib_" + verb + "_" + kind;
                abiServe(
                        test,
                        Ready.weListen(PERFTEST_PORT),
                        device + test + " -F -n 200 -x 0",
                        test + " -F -d rxe0 -x 1 -n 200 " + OURS4);
                abiServe(
                        test + " -R",
                        Ready.OUR_DEVICE,
                        device + test + " -F -n 200 -R",
                        test + " -F -d rxe0 -n 200 -R " + OURS4);
            }
        }
        abiConnect("riostream", "riostream -S 1000 -C 50 -T v", "riostream -S 1000 -C 50 -T v -s " + THEIRS4);
        abiServe(
                "riostream",
                Ready.OUR_DEVICE,
                "riostream -S 1000 -C 50 -T v -b " + OURS4,
                "riostream -S 1000 -C 50 -T v -s " + OURS4);
        abiConnect(
                "rstream, blocking",
                "rstream -S 70000 -C 50 -T b -T v",
                "rstream -S 70000 -C 50 -T b -T v -s " + THEIRS4);
        // A server that gets no processor for a while loses nothing, as long as a burst fits into its 384 receives.
        // udpong waits for ever when the last datagram of a burst is lost.
        add(Check.of(
                "abi: udpong, they serve",
                Datagrams.over(library -> new ServerAndClient(
                                theirs(120, library + " udpong -b " + THEIRS4),
                                Ready.inGuest("ss -lun | grep -q :" + UDPONG_PORT),
                                ours("run udpong -s " + THEIRS4 + " -C 300 -S 1000"))
                        .whoseServerStays())));
        add(Check.of(
                "abi: udpong, we serve",
                Datagrams.over(library -> new ServerAndClient(
                                ours("run udpong -b " + OURS4),
                                Ready.here("ss -lun | grep -q :" + UDPONG_PORT),
                                theirs(GUEST_SECONDS, library + " udpong -s " + OURS4 + " -C 300 -S 1000"))
                        .whoseServerStays())));
        twins(device);
        abiServe(
                "rping, iWARP",
                Ready.weListen(RPING_PORT),
                "-d iwarp@" + IWARP_OURS4 + " rping -s -a " + IWARP_OURS4 + " -C 10 -V",
                "rping -c -a " + IWARP_OURS4 + " -C 10");
    }

    private void abiConnect(String name, String server, String client) {
        add(cmConnect("abi: " + name, server, "run " + client));
    }

    private void abiServe(String name, Ready ready, String server, String client) {
        add(Check.of(
                        "cm, we serve: abi: " + name,
                        new ServerAndClient(ours("run " + server), ready, theirs(CM_SECONDS, client)))
                .withAttempts(name.startsWith("ud") || name.contains("_ud_") ? DATAGRAM_ATTEMPTS : 1));
    }

    private void abiPingpong(String name, String program, String options) {
        abiServe(
                name,
                Ready.weListen(PERFTEST_PORT),
                "-d rocev2@" + OURS4 + " " + program + " -g 0 " + options,
                program + " -d rxe0 -g 1 " + options + " " + OURS4);
    }

    /// Adds pairs with both ends on our side: one in C, the other its twin in Java.
    private void twins(String device) {
        String rping = "rping -s -a " + OURS4 + " -C 10 -V";
        String pinging = "rping -c -a " + OURS4 + " -C 10 -V";
        twin("rping in C serves", Ready.OUR_DEVICE, "run " + rping, pinging);
        twin("rping in Java serves", Ready.SAYS_SO, rping, "run " + pinging);
        twin(
                "ucmatose in C serves",
                Ready.OUR_DEVICE,
                "run ucmatose -b " + OURS4 + " -c 3",
                "ucmatose -s " + OURS4 + " -c 3");
        twin(
                "udaddy in Java serves",
                Ready.SAYS_SO,
                "udaddy -b " + OURS4 + " -c 3",
                "run udaddy -s " + OURS4 + " -c 3");
        twin(
                "rdma_xserver in C serves",
                Ready.OUR_DEVICE,
                "run rdma_xserver -p 7474",
                "xclient -s " + OURS4 + " -p 7474");
        for (String service : List.of("rc", "uc", "ud", "srq")) {
            twin(
                    "ibv_" + service + "_pingpong in C serves",
                    Ready.weListen(PERFTEST_PORT),
                    "run " + device + "ibv_" + service + "_pingpong -g 0 -n 200 -s 1024",
                    "pingpong " + service + " " + device + "-n 200 -s 1024 " + OURS4);
        }
        for (String verb : VERBS) {
            String bandwidth = "ib_" + verb + "_bw";
            twin(
                    bandwidth + " in Java serves",
                    Ready.SAYS_SO,
                    "perf " + verb + "-bw " + device + "-n 500",
                    "run " + device + bandwidth + " -F -n 500 -x 0 " + OURS4);
            String latency = "ib_" + verb + "_lat";
            twin(
                    latency + " -R in C serves",
                    Ready.OUR_DEVICE,
                    "run " + device + latency + " -F -n 500 -R",
                    "perf " + verb + "-lat --warm-up 0 " + device + "-n 500 -R " + OURS4);
        }
    }

    private void twin(String name, Ready ready, String server, String client) {
        add(Check.of("abi, with its twin: " + name, new ServerAndClient(ours(server), ready, ours(client))));
    }

    // ---- ping-pongs of queue pairs that are connected by hand

    private void pingpong() {
        for (int mtu : new int[] {256, 512, 1024, 2048, 4096}) {
            pingpongBoth("rc", "path MTU " + mtu, 4, "-n 200 -m " + mtu + " -s 9001 -c");
        }
        for (int mtu : new int[] {256, 4096}) {
            pingpongBoth("rc", "path MTU " + mtu, 6, "-n 200 -m " + mtu + " -s 9001 -c");
        }
        add(pingpong("rc", true, "events", 4, "-n 200 -e"));
        add(pingpong("rc", false, "events", 4, "-n 200 -e"));
        for (int family : new int[] {4, 6}) {
            // Two processes of ours serve at one address; two C programs connect at the same time.
            add(Check.of(
                    "rc: we share an address, IPv" + family,
                    ServerAndClient.together(List.of(sharing(family, "PORT"), sharing(family, "PORT2")))));
        }
        for (int family : new int[] {4, 6}) {
            for (String service : List.of("uc", "srq")) {
                pingpongBoth(service, "", family, "-n 200 -s 9001 -c");
            }
            pingpongBoth("ud", "", family, "-n 200 -s 1024 -c");
        }
        for (String service : List.of("uc", "ud", "srq")) {
            add(pingpong(service, true, "events", 4, "-n 200 -s 1024 -e"));
        }
    }

    private void pingpongBoth(String service, String words, int family, String options) {
        String more = words.isEmpty() ? "" : ", " + words;
        add(pingpong(service, true, "IPv" + family + more, family, options));
        add(pingpong(service, false, "IPv" + family + more, family, options));
    }

    private static Check pingpong(String service, boolean weConnect, String words, int family, String options) {
        String ours = family == 4 ? OURS4 : OURS6;
        String command = "pingpong " + service + " -d rocev2@" + ours;
        boolean isReliable = !service.equals("uc") && !service.equals("ud");
        int seconds = isReliable ? 80 : 30;
        String their = "ibv_" + service + "_pingpong -d rxe0 -g " + (family == 4 ? 1 : 2) + " -p PORT " + options;
        ServerAndClient pair = weConnect
                ? new ServerAndClient(
                        theirs(seconds, their),
                        Ready.guestListens(),
                        ours(command + " -g 0 -p PORT " + options + " " + THEIRS4))
                : new ServerAndClient(
                        ours(command + " -p PORT " + options), Ready.weListen(), theirs(seconds, their + " " + ours));
        return Check.of(service + ": " + (weConnect ? "we connect, " : "we serve, ") + words, pair)
                .withAttempts(isReliable ? 1 : DATAGRAM_ATTEMPTS);
    }

    private static ServerAndClient sharing(int family, String port) {
        String ours = family == 4 ? OURS4 : OURS6;
        String options = " -p " + port + " -n 1000 -s 9001 -c";
        Ready ready = (attempt, server) ->
                Ready.weListen(attempt.port() + (port.equals("PORT") ? 0 : 1)).await(attempt, server);
        return new ServerAndClient(
                ours("pingpong rc -d rocev2@" + ours + options),
                ready,
                theirs(80, "ibv_rc_pingpong -d rxe0 -g " + (family == 4 ? 1 : 2) + options + " " + ours));
    }

    // ---- the same while packets are lost

    private void loss() {
        lossy(true, "2 % of what they send is lost", 4, Weather.THEIRS_LOST);
        lossy(false, "2 % of what they send is lost", 4, Weather.THEIRS_LOST);
        lost("what they sent was lost", "tc -s qdisc show dev eth0", Weather.THEIRS_LOST);
        lossy(true, "2 % of what we send is lost", 4, Weather.OURS_LOST);
        lossy(false, "2 % of what we send is lost", 4, Weather.OURS_LOST);
        lost("what we sent was lost", "tc -s filter show dev eth0 ingress", Weather.OURS_LOST);
        lossy(true, "IPv6, 2 % is lost both ways", 6, Weather.BOTH_LOST);
        lossy(false, "IPv6, 2 % is lost both ways", 6, Weather.BOTH_LOST);
        add(Check.of("connections, 2 % is lost both ways", new JUnitInside("rocev2@" + OURS4, "SoftRoceLossTest", true))
                .in(Weather.BOTH_LOST));
    }

    private void lossy(boolean weConnect, String words, int family, Weather weather) {
        add(pingpong("rc", weConnect, words, family, "-n 200 -s 9001 -c").in(weather));
    }

    /// Adds the check that the loss was real: the guest has dropped packets of the checks before it under the same
    /// weather.
    private void lost(String name, String counters, Weather weather) {
        Pattern dropped = Pattern.compile("dropped ([0-9]+)");
        add(Check.of(name, attempt -> {
                    Running it = attempt.start(theirs(20, counters));
                    it.await(30);
                    long packets = it.lines().stream()
                            .flatMap(line -> dropped.matcher(line).results())
                            .mapToLong(result -> Long.parseLong(result.group(1)))
                            .sum();
                    attempt.note(packets + " packets were dropped");
                    if (packets == 0) {
                        throw new AssertionError("no packet was dropped");
                    }
                })
                .in(weather));
    }
}
