package verbena.transport.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import verbena.verbs.spi.SendOperation;

class SendRequestTest {
    private static final int LONG_BYTES = 1 << 20;

    private static SendRequest of(SendOperation operation) {
        SendRequest request = SendRequest.ofInline(0);
        request.begin(operation, 1);
        request.scatter.add(7, 0x1000, LONG_BYTES);
        return request;
    }

    /// Its packet names the memory, and brings none.
    @Test
    void nothingLeavesWithARequestToRead() {
        assertThat(of(SendOperation.READ).departingBytes()).isZero();
        assertThat(of(SendOperation.READ).bytes()).isEqualTo(LONG_BYTES);
    }

    @ParameterizedTest
    @EnumSource(names = {"SEND", "SEND_WITH_IMMEDIATE", "WRITE", "WRITE_WITH_IMMEDIATE"})
    void theWholeMessageLeavesWithOneThatBringsIt(SendOperation operation) {
        assertThat(of(operation).departingBytes()).isEqualTo(LONG_BYTES);
    }
}
