package verbena.conformance;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.verbs.Capability;

/// One thing that the verbs promise, and how it is tried.
///
/// @param topic what it is about, for example `atomics`
/// @param name the topic, a point, and the promise in one word: `atomics.fetchAddReturnsWhatWasThere`
/// @param needs what a device has to declare for it to be tried
public record Case(String topic, String name, Set<Capability> needs, Body body) {
    /// The action of a case on its fixture; it throws when the promise is not kept.
    @FunctionalInterface
    public interface Body {
        void tryIt(Fixture fixture) throws Exception;
    }

    /// Returns the promise as a sentence.
    public String sentence() {
        String words = name.substring(topic.length() + 1)
                .replaceAll("([a-z0-9])([A-Z])", "$1 $2")
                .replaceAll("([A-Z])([A-Z][a-z])", "$1 $2")
                .toLowerCase(Locale.ROOT);
        return Character.toUpperCase(words.charAt(0)) + words.substring(1) + ".";
    }

    /// Returns the cases of a class, by name: its public methods that take a fixture.
    static Stream<Case> of(Class<?> topic) {
        String simple = topic.getSimpleName();
        String name = Character.toLowerCase(simple.charAt(0)) + simple.substring(1);
        return Arrays.stream(topic.getDeclaredMethods())
                .filter(method -> List.of(method.getParameterTypes()).equals(List.of(Fixture.class)))
                .filter(method -> java.lang.reflect.Modifier.isPublic(method.getModifiers()))
                .sorted(java.util.Comparator.comparing(Method::getName))
                .map(method -> new Case(name, name + "." + method.getName(), needs(topic, method), body(method)));
    }

    private static Set<Capability> needs(Class<?> topic, Method method) {
        var needs = EnumSet.noneOf(Capability.class);
        for (Needs each : new Needs[] {topic.getAnnotation(Needs.class), method.getAnnotation(Needs.class)}) {
            if (each != null) {
                Collections.addAll(needs, each.value());
            }
        }
        return needs;
    }

    private static Body body(Method method) {
        return fixture -> {
            try {
                method.invoke(null, fixture);
            } catch (InvocationTargetException e) {
                switch (e.getCause()) {
                    case Exception cause -> throw cause;
                    case Error cause -> throw cause;
                    case null, default -> throw e;
                }
            }
        };
    }
}
