import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.ttlsidecar.v1.CheckVisibilityRequest;
import io.ttlsidecar.v1.CheckVisibilityResponse;
import io.ttlsidecar.v1.Container;
import io.ttlsidecar.v1.ContainerServiceGrpc;
import io.ttlsidecar.v1.CreateContainerRequest;
import io.ttlsidecar.v1.GetContainerRequest;
import io.ttlsidecar.v1.Item;
import io.ttlsidecar.v1.ItemServiceGrpc;
import io.ttlsidecar.v1.StreamCheckVisibilityRequest;
import io.ttlsidecar.v1.StreamCheckVisibilityResponse;
import io.ttlsidecar.v1.TrackItemsRequest;
import io.ttlsidecar.v1.Visibility;
import io.ttlsidecar.v1.VisibilityCheck;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Calls a sidecar through the Java stubs alone and fails unless the answers are right. */
final class Calls {
  private static final String CONTAINER = "java/sessions";
  private static final long DEFAULT_TTL = 100;
  private static final List<Visibility> WANTED =
      List.of(
          Visibility.VISIBILITY_EXPIRED,
          Visibility.VISIBILITY_VISIBLE,
          Visibility.VISIBILITY_VISIBLE,
          Visibility.VISIBILITY_UNTRACKED);

  private static void expect(String name, Object got, Object want) {
    if (!Objects.equals(got, want)) {
      throw new AssertionError(name + " is " + got + ", not " + want);
    }
  }

  private static Item.Builder item(String id, long ts) {
    return Item.newBuilder()
        .setPartitionKey(ByteString.copyFromUtf8("p"))
        .setId(ByteString.copyFromUtf8(id))
        .setTs(ts);
  }

  private static void checkPolicies(ContainerServiceGrpc.ContainerServiceBlockingStub containers) {
    for (Container container :
        List.of(
            Container.newBuilder().setId(CONTAINER).setDefaultTtl(DEFAULT_TTL).build(),
            Container.newBuilder().setId("java/off").build())) {
      containers.createContainer(
          CreateContainerRequest.newBuilder().setContainer(container).build());
      Container got =
          containers
              .getContainer(GetContainerRequest.newBuilder().setId(container.getId()).build())
              .getContainer();
      expect("presence of default_ttl", got.hasDefaultTtl(), container.hasDefaultTtl());
      expect("default_ttl", got.getDefaultTtl(), container.getDefaultTtl());
    }
  }

  private static CheckVisibilityRequest checks() {
    CheckVisibilityRequest.Builder checks =
        CheckVisibilityRequest.newBuilder().setContainer(CONTAINER);
    for (String id : List.of("old", "new", "kept", "unknown")) {
      checks.addChecks(
          VisibilityCheck.newBuilder()
              .setPartitionKey(ByteString.copyFromUtf8("p"))
              .setId(ByteString.copyFromUtf8(id)));
    }
    return checks.build();
  }

  private static void checkItems(ItemServiceGrpc.ItemServiceBlockingStub items) {
    long now = Instant.now().getEpochSecond();
    TrackItemsRequest.Builder reports = TrackItemsRequest.newBuilder().setContainer(CONTAINER);
    reports.addItems(item("old", now - 200)).addItems(item("new", now));
    reports.addItems(item("kept", now - 200).setTtl(-1));
    expect("number of results", items.trackItems(reports.build()).getResultsCount(), 3);

    CheckVisibilityResponse checked = items.checkVisibility(checks());
    expect("visibilities", checked.getVisibilitiesList(), WANTED);
    expect(
        "expire times",
        checked.getExpireTimesList(),
        List.of(now - 200 + DEFAULT_TTL, now + DEFAULT_TTL, 0L, 0L));

    TrackItemsRequest zero =
        TrackItemsRequest.newBuilder()
            .setContainer(CONTAINER)
            .addItems(item("zero", now).setTtl(0))
            .build();
    try {
      items.trackItems(zero);
      throw new AssertionError("ttl 0 is not refused");
    } catch (StatusRuntimeException refused) {
      expect(
          "code for ttl 0", refused.getStatus().getCode(), Status.Code.INVALID_ARGUMENT);
      expect(
          "whether the message for ttl 0 names the field",
          refused.getMessage().contains("items[0].ttl"),
          true);
    }
  }

  private static void checkStream(ItemServiceGrpc.ItemServiceStub items) throws Exception {
    CompletableFuture<StreamCheckVisibilityResponse> answer = new CompletableFuture<>();
    StreamObserver<StreamCheckVisibilityRequest> requests =
        items.streamCheckVisibility(
            new StreamObserver<StreamCheckVisibilityResponse>() {
              @Override
              public void onNext(StreamCheckVisibilityResponse message) {
                answer.complete(message);
              }

              @Override
              public void onError(Throwable error) {
                answer.completeExceptionally(error);
              }

              @Override
              public void onCompleted() {
                answer.completeExceptionally(new AssertionError("the stream has no answer"));
              }
            });
    requests.onNext(StreamCheckVisibilityRequest.newBuilder().setRequest(checks()).build());
    requests.onCompleted();
    expect(
        "visibilities of the stream",
        answer.get(30, TimeUnit.SECONDS).getResponse().getVisibilitiesList(),
        WANTED);
  }

  public static void main(String[] arguments) throws Exception {
    ManagedChannel channel = NettyChannelBuilder.forTarget(arguments[0]).usePlaintext().build();
    try {
      checkPolicies(
          ContainerServiceGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS));
      checkItems(ItemServiceGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS));
      checkStream(ItemServiceGrpc.newStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS));
    } finally {
      channel.shutdownNow();
    }
  }
}
