package verbena.subnet.agent;

import verbena.wire.mad.Mad;

/// The purpose of a program's agent (`struct umad_reg_attr`, umad_register2(3)).
///
/// @param managementClass of the datagrams that it sends and gets
/// @param classVersion of those that it gets unasked
/// @param oui of a vendor's class, 24 bits; else 0
/// @param hasRmpp long messages are cut and put together for it; else it does so itself
/// @param methodsLow the methods that it gets unasked, bit n for method n; 0 to 63
/// @param methodsHigh 64 to 127
public record AgentSpec(
        int managementClass, int classVersion, int oui, boolean hasRmpp, long methodsLow, long methodsHigh) {
    /// Returns whether the agent gets datagrams of this method unasked.
    public boolean hasMethod(int method) {
        return method < Mad.RESPONSE && ((method < Long.SIZE ? methodsLow : methodsHigh) >>> method & 1) != 0;
    }

    /// Returns whether the agent gets any datagrams unasked.
    public boolean hasMethods() {
        return (methodsLow | methodsHigh) != 0;
    }

    /// Returns whether the agent is of subnet management, which goes by queue pair 0.
    public boolean isSubnet() {
        return isSubnet(managementClass);
    }

    static boolean isSubnet(int managementClass) {
        return managementClass == Mad.CLASS_SUBNET_LID || managementClass == Mad.CLASS_SUBNET_DIRECTED;
    }

    /// Returns whether the agent gets the datagrams for a subnet manager.
    public boolean isManager() {
        return isSubnet() && hasMethod(Mad.METHOD_TRAP);
    }

    /// Returns whether both agents would get the same datagram.
    boolean meets(AgentSpec other) {
        return managementClass == other.managementClass
                && classVersion == other.classVersion
                && oui == other.oui
                && ((methodsLow & other.methodsLow) | (methodsHigh & other.methodsHigh)) != 0;
    }
}
