package verbena.verbs.counting;

import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.ImmutableDescriptor;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.ReflectionException;
import org.jspecify.annotations.Nullable;

/// A tally as JMX has it: an attribute for each counter and gauge, whose descriptor says which it is.
final class TallyBean implements DynamicMBean {
    private final Tally tally;

    TallyBean(Tally tally) {
        this.tally = tally;
    }

    private SortedMap<String, Long> values() {
        var all = new TreeMap<String, Long>();
        tally.counters().forEach((label, value) -> all.put(Tally.attribute(label), value));
        tally.gauges().forEach((label, value) -> all.put(Tally.attribute(label), value));
        return all;
    }

    @Override
    public Object getAttribute(String attribute) throws AttributeNotFoundException {
        Long value = values().get(attribute);
        if (value == null) {
            throw new AttributeNotFoundException(tally.kind() + " has no " + attribute);
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
        tally.counters().keySet().forEach(label -> add(attributes, label, "counter"));
        tally.gauges().keySet().forEach(label -> add(attributes, label, "gauge"));
        return new MBeanInfo(
                TallyBean.class.getName(),
                "The counters of " + tally.kind(),
                attributes.values().toArray(MBeanAttributeInfo[]::new),
                null,
                null,
                null);
    }

    private static void add(Map<String, MBeanAttributeInfo> attributes, String label, String metricType) {
        String name = Tally.attribute(label);
        var descriptor = new ImmutableDescriptor("metricType=" + metricType);
        attributes.put(name, new MBeanAttributeInfo(name, "long", label, true, false, false, descriptor));
    }
}
