package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.LinuxAbi.Cmsghdr;
import verbena.foreign.linux.LinuxAbi.Iovec;
import verbena.foreign.linux.LinuxAbi.Msghdr;

@EnabledOnOs(value = OS.LINUX, disabledReason = "UNIX-domain sockets by system calls")
class DescriptorMessagesTest {
    private final Arena arena = Arena.ofConfined();
    private final DescriptorMessages messages = new DescriptorMessages(arena);
    private final MemorySegment into = arena.allocate(128);
    private final int a;
    private final int b;

    DescriptorMessagesTest() {
        MemorySegment pair = arena.allocate(JAVA_INT, 2);
        int type = LinuxAbi.SOCK_SEQPACKET | LinuxAbi.SOCK_NONBLOCK | LinuxAbi.SOCK_CLOEXEC;
        assertThat(SystemFunction.named("socketpair").call(LinuxAbi.AF_UNIX, type, 0, pair.address()))
                .isZero();
        a = pair.getAtIndex(JAVA_INT, 0);
        b = pair.getAtIndex(JAVA_INT, 1);
    }

    @AfterEach
    void close() {
        LinuxSockets.close(a);
        LinuxSockets.close(b);
        arena.close();
    }

    @Test
    void aMessageArrivesAloneAndWhole() {
        assertThat(messages.send(a, text("one"), -1)).isEqualTo(3);
        assertThat(messages.send(a, text("three"), -1)).isEqualTo(5);

        assertThat(received(messages.receive(b, into))).isEqualTo("one");
        assertThat(messages.descriptor()).isEqualTo(-1);
        assertThat(received(messages.receive(b, into))).isEqualTo("three");
        assertThat(messages.receive(b, into)).isEqualTo(-LinuxAbi.EAGAIN);
    }

    @Test
    void aDescriptorArrivesAsOneOfTheReceiversForTheSameFile() {
        int counter = new LinuxSockets(arena).eventCounter();
        assertThat(messages.send(a, text("x"), counter)).isEqualTo(1);

        assertThat(messages.receive(b, into)).isEqualTo(1);
        int theirs = messages.descriptor();
        assertThat(theirs).isGreaterThan(2).isNotEqualTo(counter);
        MemorySegment number = arena.allocate(JAVA_LONG);
        number.set(JAVA_LONG, 0, 7);
        LinuxSockets.addToEventCounter(counter, number);
        number.set(JAVA_LONG, 0, 0);
        assertThat(LinuxSockets.read(theirs, number)).isEqualTo(8);
        assertThat(number.get(JAVA_LONG, 0)).isEqualTo(7);
        assertThat(closesOnExec(theirs)).isTrue();
        LinuxSockets.close(theirs);
        LinuxSockets.close(counter);
    }

    @Test
    void theLastMessageHadNoDescriptorWhenTheOneBeforeHad() {
        messages.send(a, text("x"), b);
        messages.send(a, text("y"), -1);
        messages.receive(b, into);
        LinuxSockets.close(messages.descriptor());
        messages.receive(b, into);
        assertThat(messages.descriptor()).isEqualTo(-1);
        messages.receive(b, into); // nothing there
        assertThat(messages.descriptor()).isEqualTo(-1);
    }

    @Test
    void severalDescriptorsInOneMessageLeaveNoneHere() throws IOException {
        for (int count : new int[] {2, 3, 17, 253}) {
            sendMany(count, text("many"));
            assertThat(received(messages.receive(b, into))).isEqualTo("many");
            assertThat(messages.descriptor()).isEqualTo(-1);
            assertThat(openDescriptors()).isEqualTo(1);
        }
    }

    @Test
    void aMessageThatIsTooLongIsLostWithItsDescriptor() throws IOException {
        messages.send(a, text("longer"), b);
        messages.send(a, text("next"), -1);
        MemorySegment small = arena.allocate(4);
        assertThat(messages.receive(b, small)).isEqualTo(-LinuxAbi.EMSGSIZE);
        assertThat(messages.descriptor()).isEqualTo(-1);
        assertThat(openDescriptors()).isEqualTo(1);
        assertThat(messages.receive(b, small)).isEqualTo(4);
    }

    @Test
    void anEmptyMessageEndsTheStreamAndLeavesNoDescriptor() throws IOException {
        sendMany(1, arena.allocate(0));
        assertThat(messages.receive(b, into)).isZero();
        assertThat(messages.descriptor()).isEqualTo(-1);
        assertThat(openDescriptors()).isEqualTo(1);
    }

    @Test
    void theEndIsToldInBothDirections() {
        messages.send(a, text("last"), -1);
        assertThat(new LinuxSockets(arena).shutdown(a, LinuxAbi.SHUT_WR)).isZero();
        assertThat(received(messages.receive(b, into))).isEqualTo("last");
        assertThat(messages.receive(b, into)).isZero();
        assertThat(messages.send(a, text("more"), -1)).isEqualTo(-LinuxAbi.EPIPE);
    }

    @Test
    void aFullSocketSaysSo() {
        int sent = 0;
        int answer = messages.send(a, into, -1);
        while (answer > 0) {
            sent++;
            answer = messages.send(a, into, -1);
        }
        assertThat(answer).isEqualTo(-LinuxAbi.EAGAIN);
        assertThat(sent).isGreaterThan(8);
    }

    @Test
    void nothingIsAllocatedPerMessage() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        MemorySegment message = text("ping");
        exchange(message, 20_000);
        long before = threads.getCurrentThreadAllocatedBytes();
        exchange(message, 10_000);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
    }

    private void exchange(MemorySegment message, int times) {
        for (int i = 0; i < times; i++) {
            if (messages.send(a, message, -1) != 4 || messages.receive(b, into) != 4) {
                throw new AssertionError("message " + i);
            }
        }
    }

    @Test
    void memoryThatTheKernelCannotSeeIsRefused() {
        assertThatThrownBy(() -> messages.receive(b, MemorySegment.ofArray(new byte[8])))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("receive: into: native memory");
        assertThatThrownBy(() -> messages.send(a, MemorySegment.NULL, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("send: message: native memory");
    }

    /// What no [DescriptorMessages] sends.
    private void sendMany(int descriptors, MemorySegment message) {
        MemorySegment control = arena.allocate(Cmsghdr.BYTES + 4L * descriptors, 8);
        control.set(JAVA_LONG, Cmsghdr.CMSG_LEN, control.byteSize());
        control.set(JAVA_INT, Cmsghdr.CMSG_LEVEL, LinuxAbi.SOL_SOCKET);
        control.set(JAVA_INT, Cmsghdr.CMSG_TYPE, LinuxAbi.SCM_RIGHTS);
        for (int i = 0; i < descriptors; i++) {
            control.set(JAVA_INT, Cmsghdr.BYTES + 4L * i, b);
        }
        MemorySegment iovec = arena.allocate(Iovec.BYTES, 8);
        iovec.set(JAVA_LONG, Iovec.IOV_BASE, message.address());
        iovec.set(JAVA_LONG, Iovec.IOV_LEN, message.byteSize());
        MemorySegment header = arena.allocate(Msghdr.BYTES, 8);
        header.set(JAVA_LONG, Msghdr.MSG_IOV, iovec.address());
        header.set(JAVA_LONG, Msghdr.MSG_IOVLEN, 1);
        header.set(JAVA_LONG, Msghdr.MSG_CONTROL, control.address());
        header.set(JAVA_LONG, Msghdr.MSG_CONTROLLEN, control.byteSize());
        assertThat(SystemFunction.named("sendmsg").call(a, header.address(), 0)).isEqualTo(message.byteSize());
    }

    private MemorySegment text(String text) {
        return arena.allocateFrom(text).asSlice(0, text.length());
    }

    private String received(int bytes) {
        return new String(into.asSlice(0, bytes).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /// proc(5): the flags are octal, and O_CLOEXEC is 02000000.
    private static boolean closesOnExec(int fd) {
        try {
            String flags =
                    Files.readAllLines(Path.of("/proc/self/fdinfo/" + fd)).get(1);
            return (Integer.parseInt(flags.substring(flags.indexOf('0')), 8) & LinuxAbi.SOCK_CLOEXEC) != 0;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /// How many descriptors of this process are the socket that these tests send.
    private long openDescriptors() throws IOException {
        Path folder = Path.of("/proc/self/fd");
        Path socket = Files.readSymbolicLink(folder.resolve(Integer.toString(b)));
        long count = 0;
        try (var list = Files.newDirectoryStream(folder)) {
            for (Path each : list) {
                count += Files.exists(each, LinkOption.NOFOLLOW_LINKS)
                                && Files.readSymbolicLink(each).equals(socket)
                        ? 1
                        : 0;
            }
        }
        return count;
    }
}
