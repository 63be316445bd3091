import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Calls tools of an MCP server with the official client for Java: URL [NAME TOOL ARGUMENTS]...
 * Prints OUT and a JSON object: the tools' names, and each call's structured answer under its name.
 */
public class Client {
  public static void main(String[] words) throws Exception {
    var url = URI.create(words[0]);
    var json = McpJsonDefaults.getMapper();
    var transport = HttpClientStreamableHttpTransport.builder(url.resolve("/").toString()).endpoint(url.getPath()).build();
    Map<String, Object> found = new LinkedHashMap<>();
    try (var client = McpClient.sync(transport).requestTimeout(Duration.ofSeconds(50)).build()) {
      client.initialize();
      found.put("tools", client.listTools().tools().stream().map(Tool::name).toList());
      for (int at = 1; at + 2 < words.length; at += 3) {
        var answer = client.callTool(new CallToolRequest(json, words[at + 1], words[at + 2]));
        found.put(words[at], json.writeValueAsString(answer.structuredContent()));
      }
    }
    System.out.println("OUT " + json.writeValueAsString(found));
    System.exit(0);
  }
}
