package verbena.checked;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.check.CallPlace;

class CallPlaceTest {
    @Test
    void namesTheProgramsFrameFirst() {
        CallPlace.Frame innermost = CallPlace.here().frames().getFirst();

        assertThat(innermost.type()).isEqualTo(CallPlaceTest.class.getName());
        assertThat(innermost.method()).isEqualTo("namesTheProgramsFrameFirst");
        assertThat(innermost.file()).isEqualTo("CallPlaceTest.java");
    }

    @Test
    void isEqualForTheSameFrames() {
        CallPlace[] seen = new CallPlace[2];
        for (int i = 0; i < seen.length; i++) {
            seen[i] = CallPlace.here();
        }

        assertThat(seen[0]).isEqualTo(seen[1]).isNotEqualTo(CallPlace.here());
    }
}
