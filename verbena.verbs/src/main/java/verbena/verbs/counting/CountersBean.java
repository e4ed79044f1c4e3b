package verbena.verbs.counting;

import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.ImmutableDescriptor;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.ReflectionException;
import org.jspecify.annotations.Nullable;

/// The counters of a kind as JMX has them: an attribute for each counter and gauge, whose descriptor says which it is.
final class CountersBean implements DynamicMBean {
    private final String kind;
    private final Supplier<SortedMap<String, Long>> counters;
    private final Supplier<SortedMap<String, Long>> gauges;

    CountersBean(String kind, Supplier<SortedMap<String, Long>> counters, Supplier<SortedMap<String, Long>> gauges) {
        this.kind = kind;
        this.counters = counters;
        this.gauges = gauges;
    }

    /// Returns the name that JMX has for a counter or gauge: `SentPackets` for `sent.packets`.
    private static String attribute(String label) {
        return Stream.of(label.split("[._-]"))
                .map(word -> Character.toUpperCase(word.charAt(0)) + word.substring(1))
                .collect(Collectors.joining());
    }

    private SortedMap<String, Long> values() {
        var all = new TreeMap<String, Long>();
        counters.get().forEach((label, value) -> all.put(attribute(label), value));
        gauges.get().forEach((label, value) -> all.put(attribute(label), value));
        return all;
    }

    @Override
    public Object getAttribute(String attribute) throws AttributeNotFoundException {
        Long value = values().get(attribute);
        if (value == null) {
            throw new AttributeNotFoundException(kind + " has no " + attribute);
        }
        return value;
    }

    @Override
    public AttributeList getAttributes(String[] attributes) {
        Map<String, Long> values = values();
        var found = new AttributeList();
        Arrays.stream(attributes)
                .filter(values::containsKey)
                .forEach(each -> found.add(new Attribute(each, values.get(each))));
        return found;
    }

    @Override
    public void setAttribute(@Nullable Attribute attribute) throws AttributeNotFoundException {
        throw new AttributeNotFoundException("counters cannot be set");
    }

    @Override
    public AttributeList setAttributes(AttributeList attributes) {
        return new AttributeList();
    }

    @Override
    public Object invoke(String operation, Object[] arguments, String[] signature) throws ReflectionException {
        throw new ReflectionException(new NoSuchMethodException(operation));
    }

    @Override
    public MBeanInfo getMBeanInfo() {
        var attributes = new TreeMap<String, MBeanAttributeInfo>();
        counters.get().keySet().forEach(label -> add(attributes, label, "counter"));
        gauges.get().keySet().forEach(label -> add(attributes, label, "gauge"));
        return new MBeanInfo(
                CountersBean.class.getName(),
                "The counters of " + kind,
                attributes.values().toArray(MBeanAttributeInfo[]::new),
                null,
                null,
                null);
    }

    private static void add(Map<String, MBeanAttributeInfo> attributes, String label, String metricType) {
        String name = attribute(label);
        var descriptor = new ImmutableDescriptor("metricType=" + metricType);
        attributes.put(name, new MBeanAttributeInfo(name, "long", label, true, false, false, descriptor));
    }
}
