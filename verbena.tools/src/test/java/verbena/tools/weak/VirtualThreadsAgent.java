package verbena.tools.weak;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The agent of a process in virtual time. Some of our classes make threads of the system: a worker has one, and so
/// has `cp`. Here they make virtual ones, which [OneByOne] runs. They wait for devices and for each other, as the
/// program's threads do.
public final class VirtualThreadsAgent {
    private static final List<String> CLASSES =
            List.of("verbena/messages/", "verbena/tools/files/", "verbena/tools/Background");

    private static final ClassDesc THREAD = ClassDesc.of("java.lang.Thread");
    private static final ClassDesc OF_SYSTEM = ClassDesc.of("java.lang.Thread$Builder$OfPlatform");
    private static final ClassDesc VIRTUAL = ClassDesc.of("java.lang.Thread$Builder$OfVirtual");

    private VirtualThreadsAgent() {}

    /// Begins; the JVM calls this.
    public static void premain(String arguments, Instrumentation by) {
        by.addTransformer(new ClassFileTransformer() {
            @Override
            public byte @Nullable [] transform(
                    ClassLoader loader, String name, Class<?> known, ProtectionDomain domain, byte[] bytes) {
                return CLASSES.stream().anyMatch(name::startsWith) ? changed(bytes) : null;
            }
        });
    }

    /// Returns a class that makes virtual threads in place of the system's; null when it makes none.
    private static byte @Nullable [] changed(byte[] bytes) {
        ClassFile file = ClassFile.of();
        ClassModel model = file.parse(bytes);
        for (var each : model.constantPool()) {
            if (each instanceof ClassEntry entry && entry.asSymbol().equals(OF_SYSTEM)) {
                return file.transformClass(
                        model, ClassTransform.transformingMethodBodies(VirtualThreadsAgent::addChanged));
            }
        }
        return null;
    }

    private static void addChanged(CodeBuilder code, CodeElement each) {
        if (each instanceof InvokeInstruction call
                && call.typeSymbol().returnType().equals(OF_SYSTEM)) {
            MethodTypeDesc type = call.typeSymbol().changeReturnType(VIRTUAL);
            switch (call.name().stringValue()) {
                case "ofPlatform" -> code.invokestatic(THREAD, "ofVirtual", type);
                case "daemon" -> {} // each virtual thread is one
                default -> code.invokeinterface(VIRTUAL, call.name().stringValue(), type);
            }
        } else if (each instanceof InvokeInstruction call
                && call.owner().asSymbol().equals(OF_SYSTEM)) {
            code.invokeinterface(VIRTUAL, call.name().stringValue(), call.typeSymbol());
        } else {
            code.with(each);
        }
    }
}
