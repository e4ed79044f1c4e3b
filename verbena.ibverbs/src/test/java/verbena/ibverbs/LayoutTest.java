package verbena.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.foreign.Struct;
import verbena.foreign.rdma.CmConstants;
import verbena.foreign.rdma.CmStructs;
import verbena.foreign.rdma.VerbsConstants;
import verbena.foreign.rdma.VerbsStructs;

/// Every struct and number against what a C compiler makes of the installed headers.
class LayoutTest {
    @TempDir
    private Path folder;

    @Test
    void everyFieldOfVerbsIsWhereCHasIt() throws Exception {
        compareStructs("infiniband/verbs.h", VerbsStructs.ALL);
    }

    @Test
    void everyFieldOfTheConnectionManagerIsWhereCHasIt() throws Exception {
        compareStructs("rdma/rdma_cma.h", CmStructs.ALL);
    }

    @Test
    void everyNumberOfVerbsIsC() throws Exception {
        compareNumbers("infiniband/verbs.h", VerbsConstants.class);
    }

    @Test
    void everyNumberOfTheConnectionManagerIsC() throws Exception {
        compareNumbers("rdma/rdma_cma.h", CmConstants.class);
    }

    @Test
    void aFieldThatIsNotThereIsNamed() {
        assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> VerbsStructs.WC.at("color")))
                .hasMessage("struct ibv_wc has no field color");
    }

    /// Words of the headers: what is newer than they are is left out.
    private Set<String> words(String header) throws Exception {
        assumeTrue(CCompiler.isThere(), "there is no C compiler (cc)");
        Path source = folder.resolve("words.c");
        Files.writeString(source, "#include <" + header + ">\n");
        Path out = folder.resolve("words.i");
        String said = CCompiler.tryRun(List.of("-E", "-dD", source.toString(), "-o", out.toString()));
        assumeTrue(said.isEmpty(), "<" + header + "> is not installed");
        var words = new HashSet<String>();
        var matcher = Pattern.compile("\\w+").matcher(Files.readString(out));
        while (matcher.find()) {
            words.add(matcher.group());
        }
        return words;
    }

    private void compareStructs(String header, List<Struct> structs) throws Exception {
        Set<String> words = words(header);
        var expressions = new ArrayList<String>();
        var ours = new ArrayList<String>();
        for (Struct struct : structs) {
            String type = struct.name();
            boolean complete = true;
            for (String path : struct.paths()) {
                String last = path.substring(path.lastIndexOf('.') + 1);
                complete &= words.contains(last);
                if (words.contains(last)) {
                    expressions.add("offsetof(%s, %s)".formatted(type, path));
                    ours.add(Long.toString(struct.at(path)));
                    expressions.add("sizeof(((%s *)0)->%s)".formatted(type, path));
                    ours.add(Long.toString(struct.bytes(path)));
                }
            }
            if (complete) {
                expressions.add("sizeof(%s)".formatted(type));
                ours.add(Long.toString(struct.size()));
            }
        }
        assertThat(expressions).hasSizeGreaterThan(100);
        compare(header, expressions, ours);
    }

    private void compareNumbers(String header, Class<?> constants) throws Exception {
        Set<String> words = words(header);
        var expressions = new ArrayList<String>();
        var ours = new ArrayList<String>();
        for (var field : constants.getDeclaredFields()) {
            if (words.contains(field.getName())) {
                expressions.add(field.getName());
                ours.add(Integer.toString(field.getInt(null)));
            }
        }
        assertThat(expressions).hasSizeGreaterThan(20);
        compare(header, expressions, ours);
    }

    private void compare(String header, List<String> expressions, List<String> ours)
            throws IOException, InterruptedException {
        var program = new StringBuilder("#include <stddef.h>\n#include <stdio.h>\n#include <netinet/in.h>\n");
        program.append("#include <").append(header).append(">\nint main(void) {\n");
        expressions.forEach(each ->
                program.append("    printf(\"%d\\n\", (int)(").append(each).append("));\n"));
        Path source = folder.resolve("print.c");
        Files.writeString(source, program.append("    return 0;\n}\n"));
        Path binary = folder.resolve("print");
        assertThat(CCompiler.tryRun(List.of("-w", source.toString(), "-o", binary.toString())))
                .isEmpty();
        List<String> theirs =
                CCompiler.output(List.of(binary.toString())).lines().toList();
        var wrong = new ArrayList<String>();
        for (int i = 0; i < ours.size(); i++) {
            if (!ours.get(i).equals(theirs.get(i))) {
                wrong.add(expressions.get(i) + " is " + theirs.get(i) + " in C, " + ours.get(i) + " here");
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(theirs).hasSameSizeAs(ours);
    }
}
