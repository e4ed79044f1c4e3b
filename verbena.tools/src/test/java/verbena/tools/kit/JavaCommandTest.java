package verbena.tools.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import verbena.tools.Verbena;

class JavaCommandTest {
    @Test
    void theNameOfTheClassWithMainIsThatOfTheCommandLine() {
        assertThat(JavaCommand.MAIN).isEqualTo(Verbena.class.getName());
        assertThat(JavaCommand.again().getLast()).endsWith(Verbena.class.getName());
    }

    @Test
    void childrenHaveTheOptionsOfTheirParentsJvmButNoneThatNamesAFileToWrite() {
        assertThat(JavaCommand.forChildren(List.of(
                        "-XX:+UseSerialGC",
                        "-XX:AOTCache=/a/b.aot",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx200m",
                        "-Xlog:disable",
                        "-Xlog:all=warning,aot*=off:stderr",
                        "-Xlog:gc:gc.log",
                        "-XX:AOTCacheOutput=new.aot",
                        "-XX:StartFlightRecording=filename=x.jfr",
                        "-agentlib:jdwp=server=y",
                        "--module-path=/a",
                        "-Dcom.sun.management.jmxremote.port=1")))
                .containsExactly(
                        "-XX:+UseSerialGC",
                        "-XX:AOTCache=/a/b.aot",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx200m",
                        "-Xlog:disable",
                        "-Xlog:all=warning,aot*=off:stderr");
    }
}
