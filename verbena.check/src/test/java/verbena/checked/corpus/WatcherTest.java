package verbena.checked.corpus;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.check.CheckOptions;
import verbena.check.Checker;
import verbena.check.Recorder;
import verbena.check.Rule;
import verbena.check.Watcher;
import verbena.check.Watcher.Event;
import verbena.check.rules.Watchers;

/// What the watchers hear of.
class WatcherTest {
    @TempDir
    private Path folder;

    /// A watcher would not hear of an event whose method it has and does not name.
    @Test
    void eachWatcherNamesTheEventsWhoseMethodsItHas() {
        EnumSet<Rule> rules = EnumSet.allOf(Rule.class);
        CheckOptions options = CheckOptions.of("log=" + folder.resolve("log"));
        var all = new ArrayList<>(Watchers.of(rules, new Checker(rules, Watchers::of), options));
        all.add(new Recorder(folder));
        assertThat(all)
                .hasSizeGreaterThan(10)
                .allSatisfy(each -> assertThat(each.events())
                        .as(each.getClass().getSimpleName())
                        .isNotEmpty()
                        .containsExactlyInAnyOrderElementsOf(methods(each)));
    }

    private static List<Event> methods(Watcher of) {
        return Arrays.stream(of.getClass().getMethods())
                .filter(each -> each.getDeclaringClass() != Watcher.class)
                .filter(each -> each.getName().matches("on[A-Z].*"))
                .map(WatcherTest::event)
                .toList();
    }

    private static Event event(Method method) {
        String name = method.getName().substring(2).replaceAll("(?<!^)([A-Z])", "_$1");
        return Event.valueOf(name.toUpperCase(Locale.ROOT));
    }
}
