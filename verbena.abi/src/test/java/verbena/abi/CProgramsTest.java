package verbena.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.abi.Programs.Ended;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// Programs of our own in C: the example of a textbook, and one that does everything wrong.
class CProgramsTest {
    private Programs programs = Programs.over("rocev2_lo");

    @AfterEach
    void endAll() {
        programs.close();
    }

    @Test
    void theExampleWrites() {
        Ended ended = programs.runC(Programs.ROOT.resolve("examples/c/write.c"));
        assertThat(ended.said()).contains("request 7: success", "the other buffer says: written by RDMA");
    }

    @Test
    void aProgramThatMisusesTheApiGetsWhatTheManPagesSay() {
        programs.runC(Programs.SOURCES.resolve("misuse.c"));
    }

    @Test
    void requestsAndMemoryMeanWhatTheStandardSays() {
        programs.runC(Programs.SOURCES.resolve("semantics.c"));
    }

    @Test
    void aMistakeInARequestShowsWhereTheStandardSays() {
        programs.runC(Programs.SOURCES.resolve("faults.c"));
    }

    @Test
    void onlyMemoryThatTheKernelWouldPinIsRegistered() {
        Path program = Programs.SOURCES.resolve("registration.c");
        programs.runC(program);
        programs.runC(program, "as before Linux 6.11");
    }

    @Test
    void integersAreTakenUpToTheirLimitsAndRefusedBeyond() {
        programs.runC(Programs.SOURCES.resolve("limits.c"));
        programs.runC(Programs.SOURCES.resolve("conn_param.c"));
    }

    @Test
    void aRequestEndsWhoseMemoryHasGone() throws IOException {
        Path program = Programs.SOURCES.resolve("gone.c");
        programs.runC(program);
        programs.close();
        programs = Programs.over("shm");
        programs.runC(program);
        programs.close();
        programs = Programs.over("iwarp_lo");
        programs.runC(program, "iwarp", Programs.freePort());
    }

    @Test
    void memoryOnDemandComesAndGoes() throws IOException {
        Path program = Programs.SOURCES.resolve("ondemand.c");
        programs.runC(program);
        programs.close();
        programs = Programs.over("shm");
        programs.runC(program);
    }

    @Test
    void countersOfFlowsCountFramesAndBytes() {
        String said = programs.runC(Programs.SOURCES.resolve("counters.c")).said();
        assumeThat(said).doesNotContain("skipped: ");
    }

    @Test
    void extendedConnectionsNameTheQueueOfThePeer() {
        programs.runC(Programs.SOURCES.resolve("xrc.c"));
    }

    @Test
    void addressesMeanTheDevicesThatAreListed() {
        programs.close();
        programs = Programs.over(""); // all that there are
        programs.runC(Programs.SOURCES.resolve("addresses.c"));
    }

    @Test
    void devicesAreFoundInSysAndDev() {
        programs.runC(Programs.SOURCES.resolve("discovery.c"));
    }

    @Test
    void waitingForEventsIsASystemCall() {
        programs.runC(Programs.SOURCES.resolve("waiting.c"));
    }

    @Test
    void aDescriptorIsReadableAsLongAsThereIsAnEvent() {
        programs.runC(Programs.SOURCES.resolve("readiness.c"));
    }

    /// Another one has its UDP port and does not share it, as the process of another user.
    @Test
    void aDeviceWhosePortIsTakenIsOpenedAndRefusesQueuePairs() {
        programs.close();
        programs = Programs.over("rocev2@127.3.5.8");
        try (Context _ = Device.named("rocev2@127.3.5.8,link=portable").open()) {
            String said = programs.runC(Programs.SOURCES.resolve("watching.c")).said();
            assertThat(said).contains("UDP port 4791 at 127.3.5.8 is in use").contains("by process ");
        }
    }

    @Test
    void datagramsBehaveAsThoseOfUdpDo() {
        programs.runC(Programs.SOURCES.resolve("datagrams.c"));
    }

    /// From a socket at all addresses the system sends from 127.0.0.1, where no device is.
    @Test
    void datagramsGoByADeviceAtAnotherAddressOfLoopback() {
        programs.close();
        programs = Programs.over("rocev2@127.3.5.7");
        programs.runC(Programs.SOURCES.resolve("datagrams.c"), "127.3.5.7");
    }
}
