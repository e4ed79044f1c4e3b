package verbena.check.litmus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LitmusParserTest {
    private static final String PAGE = """
            title: A title
            question: Can it?
            why: Because of this
              and that.
            memory
              A: m[2] = 0, buffer = 0x11   # a comment
              B: x = 0, y[2] = 1, inbox = 0
            queues
              q: A B
              p: A B relaxed
            receives
              q at B: inbox, none
            thread A
              WRITE q x <- 1
              fenced WRITE q y <- m
              READ q m <- y
              r = load plain m.0
              need r == 0
              SEND q <- r+1
              CMP_SWAP q buffer <- x 0 1
              poll q
            thread B
              take q
              s = load x
            can: r == 0 && s != 1 || x == 3
            allowed: card
            see: Nothing.
            cure: A cure
            thread A
              store buffer 1
            allowed: never
            can: x == 1
            """;

    private static Litmus parse(String text) {
        return LitmusParser.parse("page", text);
    }

    @Test
    void aPageIsRead() {
        Litmus litmus = parse(PAGE);
        assertThat(litmus.title()).isEqualTo("A title");
        assertThat(litmus.question()).isEqualTo("Can it?");
        assertThat(litmus.why()).isEqualTo("Because of this and that.");
        assertThat(litmus.variants()).hasSize(2);
        var first = litmus.variants().getFirst();
        assertThat(first.allowed()).contains(Level.CARD);
        assertThat(first.see()).isEqualTo("Nothing.");
        assertThat(first.program().condition()).hasToString("r == 0 && s != 1 || x == 3");
        assertThat(first.program().words().sequencedKeySet())
                .containsExactly("m.0", "m.1", "buffer", "x", "y.0", "y.1", "inbox");
        assertThat(Program.known(first.program().words(), "buffer").initial()).isEqualTo(0x11);
        assertThat(Program.known(first.program().queues(), "p").relaxed()).isTrue();
        assertThat(first.program().isWide()).isTrue();
        assertThat(first.program().threads().getFirst().steps().stream()
                        .map(Step::text)
                        .collect(Collectors.joining("\n")))
                .isEqualTo("""
                        WRITE q x <- 1
                        fenced WRITE q y <- m
                        READ q m <- y
                        r = load plain m.0
                        need r == 0
                        SEND q <- r+1
                        CMP_SWAP q buffer <- x 0 1
                        poll q""");
    }

    @Test
    void aCureHasWhatItDoesNotSayAnew() {
        var cure = parse(PAGE).variants().getLast();
        assertThat(cure.title()).isEqualTo("A cure");
        assertThat(cure.allowed()).isEqualTo(Optional.empty());
        assertThat(cure.program().threads()).hasSize(1);
        assertThat(cure.program().words()).hasSize(7);
        assertThat(cure.program().condition()).hasToString("x == 1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "title: A title        | titel: A title          | page:1: begins no section",
                "B: x = 0              | B: x = 0, x = 1         | page:7: 'x' is there twice",
                "x = 0, y              | x = 256, y              | page:7: '256' is no number from 0 to 255",
                "x = 0, y              | X = 0, y                | page:7: 'X = 0' is no 'WORD = VALUE'",
                "q: A B                | q: A A                  | page:9: a queue pair is between two nodes",
                "q at B                | z at B                  | page:12: node B has no queue 'z'",
                "inbox, none           | m, none                 | page:12: node B has no memory 'm'",
                "thread B              | thread C                | page:22: node 'C' has neither memory nor a queue",
                "WRITE q x <- 1        | WROTE q x <- 1          | page:14: WROTE is no verb",
                "WRITE q x <- 1        | WRITE q x               | page:14: WRITE: is 'WRITE QUEUE REMOTE",
                "WRITE q x <- 1        | WRITE q x <- 1 1        | page:14: both sides need the same number",
                "WRITE q x <- 1        | WRITE q z <- 1          | page:14: node B has no memory 'z'",
                "WRITE q x <- 1        | WRITE z x <- 1          | page:14: node A has no queue 'z'",
                "WRITE q x <- 1        | WRITE q x <- r          | page:14: the thread has not set a register 'r'",
                "READ q m <- y         | READ q m <- x           | page:16: both sides need the same number",
                "r = load plain m.0    | m = load y.0            | page:17: node A has no word 'y.0'",
                "SEND q <- r+1         | SEND p <- r+1           | page:19: node B has no receive for it at queue p",
                "CMP_SWAP q buffer <- x 0 1 | CMP_SWAP q buffer <- x 0 | page:20: CMP_SWAP: is 'CMP_SWAP QUEUE LOCAL",
                "s = load x            | r = load x              | page:24: register 'r' is set twice",
                "x == 3                | x = 3                   | page:25: 'x = 3' is no comparison",
                "x == 3                | z == 3                  | can: nothing is named 'z'",
                "allowed: card         | allowed: cards          | allowed: strong, card, standard or never",
                "store buffer 1        | \"\"                    | a thread has 1 to 16 steps",
                "question: Can it?     | \"\"                    | 'question' is missing",
            })
    void aMistakeIsToldWithItsLine(String right, String wrong, String said) {
        assertThat(PAGE).contains(right);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse(PAGE.replace(right, wrong)))
                .withMessageContaining(said);
    }

    @Test
    void aQueueBelongsToOneThreadOfItsNode() {
        String text = PAGE.replace("cure: A cure\n", "thread A\n  WRITE q x <- 1\ncure: A cure\n");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse(text))
                .withMessageContaining("queue 'q' is posted to by another thread of this node");
    }
}
